"""``python -m ledger``: the same as the ``ledger`` command."""

from ledger.cli import main

raise SystemExit(main())
