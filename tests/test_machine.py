"""Machines: every figure with kind and source, absent ones named, a malformed catalogue explained."""

import pickle

import pytest

from ledger.baselines import BASELINES
from ledger.errors import BadValue, DataError, MissingFigure, UnknownName
from ledger.estimate import CONSTANTS
from ledger.machine import DEFAULT, FIELDS, KINDS, Figure, machine, machines, read_catalogue
from ledger.sources import data_text, read_sources, sources
from ledger.units import BYTES, BYTES_PER_US, FLOPS, SMS, US

ENTRY = 'sm_count = { value = 132, kind = "vendor", source = "xla-specs" }'
GOOD = f'[x]\nname = "X"\nvendor = "V"\ncompute_capability = "9.0"\n[x.figures]\n{ENTRY}\n'


def test_the_catalogue_holds_the_machines_that_the_book_speaks_of():
    keys = {"h200", "h100-sxm", "h100-pcie", "a100", "l40s", "rtx-4090", "b200", "mi300x"}
    assert keys <= set(machines())
    assert next(iter(machines())) == DEFAULT


@pytest.mark.parametrize("key", machines())
def test_every_figure_has_a_value_a_kind_and_a_source_that_exists(key):
    figures = machines()[key].figures
    assert figures
    for name, figure in figures.items():
        assert name in FIELDS
        assert figure.kind in KINDS[:3]
        assert figure.source in sources()
        assert figure.value > 0 or name == "smem_reserved_per_block_kib"


def test_every_source_is_used_by_a_figure_a_baseline_a_constant_or_named_in_a_note_or_on_a_page(repository):
    pages = "".join(p.read_text() for p in (repository / "docs").rglob("*.md"))
    used = [*(each.source for each in BASELINES.values()), *(key for *_, key in CONSTANTS.values())]
    everything = data_text("machines.toml") + pages + " ".join(used)
    assert [key for key in sources() if key not in everything] == []


def test_names_of_a_machine_are_its_key_its_name_and_its_aliases():
    assert machine("H200 sxm") is machine("h200") is machine("H200-SXM")
    assert machine(machine("h200")) is machine("h200")
    owners = {}
    for each in machines().values():
        for name in {n.casefold() for n in (each.key, each.name, *each.aliases)}:
            assert owners.setdefault(name, each.key) == each.key


def test_the_calibrated_bandwidth_is_kept_apart_from_the_vendor_s():
    h200 = machine("h200")
    assert (h200.bandwidth_gbs, h200.bandwidth_vendor_gbs, h200.bandwidth_calibrated_gbs) == (
        4502.4,
        4800,
        4502.4,
    )
    assert h200.bandwidth_gbs.inputs[0].key == "h200.bandwidth_gbs"
    assert machine("l40s").bandwidth_gbs == 864


DERIVED = [
    ("bytes_per_us", 4_502_400.0, BYTES_PER_US),
    ("smem_per_sm", 228 * 1024, BYTES),
    ("smem_per_block", 227 * 1024, BYTES),
    ("l2", 50 * 2**20, BYTES),
    ("fp16_flops_per_us", 989 * 10**6, FLOPS / US),
    ("sm_count", 132, SMS),
]


@pytest.mark.parametrize(("name", "value", "dimension"), DERIVED)
def test_derived_figures_are_in_base_units_and_traced(name, value, dimension):
    found = getattr(machine("h200"), name)
    assert (found.value, found.dimension) == (value, dimension)
    assert found.inputs[0].scope == "h200"
    assert "figure, " in found.inputs[0].source


def test_a_figure_that_nobody_has_published_is_a_clear_error():
    with pytest.raises(
        MissingFigure, match=r"^l40s \(L40S 48GB\): no public figure for l2_mib; known: sm_count"
    ):
        _ = machine("l40s").l2
    with pytest.raises(MissingFigure, match="no public figure for bandwidth_vendor_gbs"):
        _ = machine("gh200").bytes_per_us
    with pytest.raises(AttributeError, match="a machine has no field 'smcount'; fields: sm_count"):
        _ = machine("h200").smcount
    with pytest.raises(UnknownName, match="unknown machine field 'smcount': did you mean 'sm_count'"):
        machine("h200").figure("smcount")


def test_a_machine_can_have_some_figures_replaced():
    other = machine("h200").having(sm_count=64, bandwidth_gbs=1000)
    assert (other.sm_count, other.bytes_per_us, other.smem_per_sm) == (64, 10**6, 228 * 1024)
    assert other.figures["sm_count"] == Figure(value=64, kind="given", source="the caller")
    assert machine("h200").sm_count == 132
    assert pickle.loads(pickle.dumps(machine("h200").sm_count)) == 132


BAD_VALUES = [
    ("sm_count", 0, "sm_count must be a positive whole number, got 0"),
    ("sm_count", 1.5, "sm_count must be a positive whole number, got 1.5"),
    ("sm_count", True, "sm_count must be a positive whole number, got True"),
    ("bandwidth_gbs", -1, "bandwidth_gbs must be a positive finite number, got -1"),
    ("bandwidth_gbs", float("inf"), "bandwidth_gbs must be a positive finite number, got inf"),
    ("bandwidth_gbs", "fast", "bandwidth_gbs must be a positive finite number, got 'fast'"),
]


@pytest.mark.parametrize(("name", "value", "message"), BAD_VALUES, ids=[r[2] for r in BAD_VALUES])
def test_a_replaced_figure_must_be_one(name, value, message):
    with pytest.raises(BadValue) as raised:
        machine("h200").having(**{name: value})
    assert str(raised.value) == message
    with pytest.raises(UnknownName, match="unknown machine field 'smcount': did you mean 'sm_count'"):
        machine("h200").having(smcount=1)


MALFORMED = [
    ("[x", "m.toml: not TOML: "),
    ("", "m.toml: holds no machine; it must hold at least one table such as [h200]"),
    ("x = 1", "m.toml: x: must be a table, found 1"),
    (GOOD.replace('name = "X"\n', ""), "m.toml: x: name must be a text, found None"),
    (GOOD.replace('"V"', "3"), "m.toml: x: vendor must be a text, found 3"),
    (
        GOOD.replace('vendor = "V"', 'vendor = "V"\naliases = [1]'),
        "m.toml: x: aliases must be a list of texts",
    ),
    (
        GOOD.replace('vendor = "V"', 'vendor = "V"\nnote = "n"'),
        "m.toml: x: unknown entry 'note'; allowed: aliases",
    ),
    (GOOD.replace("[x.figures]", "[x.figure]"), "m.toml: x: unknown entry 'figure'"),
    (GOOD.partition("[x.figures]")[0], "m.toml: x: must have a table [….figures], found None"),
    (GOOD.replace("sm_count", "l2_mib"), "m.toml: x: figures must hold sm_count, found l2_mib"),
    (GOOD.replace("sm_count", "sm_cuont"), "m.toml: x: unknown field 'sm_cuont': did you mean 'sm_count'?"),
    (
        GOOD.replace(ENTRY, "sm_count = 132"),
        "m.toml: x.sm_count: must be { value = …, kind = …, source = … }, found 132",
    ),
    (GOOD.replace("value = 132", "value = 132, sauce = 1"), "m.toml: x.sm_count: unknown entry 'sauce'"),
    (
        GOOD.replace('"vendor", source', '"guessed", source'),
        "m.toml: x.sm_count: kind must be one of vendor, measured",
    ),
    (GOOD.replace('"xla-specs"', '"xla-spec"'), "unknown source 'xla-spec': did you mean 'xla-specs'?"),
    (GOOD.replace("132", "-132"), "m.toml: x: sm_count must be a positive whole number, got -132"),
    (GOOD.replace("132", "nan"), "m.toml: x: sm_count must be a positive whole number, got nan"),
    (GOOD.replace("132", '"132"'), "m.toml: x: sm_count must be a positive whole number, got '132'"),
]


@pytest.mark.parametrize(("text", "message"), MALFORMED, ids=[r[1] for r in MALFORMED])
def test_a_malformed_catalogue_says_which_entry_and_how(text, message):
    assert read_catalogue(GOOD, "m.toml")["x"].sm_count == 132
    with pytest.raises(DataError) as raised:
        read_catalogue(text, "m.toml")
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


MALFORMED_SOURCES = [
    ("[a", "s.toml: not TOML: "),
    ('[a]\ntitle = "t"', "s.toml: a: must be a table with title and where, found {'title': 't'}"),
    ('[a]\ntitle = "t"\nwhere = 3', "s.toml: a: where = 3 is not a text among title, where, url, note"),
    (
        '[a]\ntitle = "t"\nwhere = "w"\nlink = "l"',
        "s.toml: a: link = 'l' is not a text among title, where, url, note",
    ),
]


@pytest.mark.parametrize(("text", "message"), MALFORMED_SOURCES, ids=[r[1] for r in MALFORMED_SOURCES])
def test_malformed_sources_say_which_entry_and_how(text, message):
    with pytest.raises(DataError) as raised:
        read_sources(text, "s.toml")
    assert message in str(raised.value)


def test_a_missing_data_file_is_named():
    with pytest.raises(DataError, match=r"^nothing\.toml: cannot be read: "):
        data_text("nothing.toml")
