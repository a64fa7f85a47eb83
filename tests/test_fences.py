"""Each form of an example is found and run, and fails at the line where it stands in the file."""

import re
import shutil
import subprocess
import sys
import traceback
from pathlib import Path

import markdown
import pytest
from sybil import Document
from sybil.example import SybilFailure

from tests.fences import PARSERS, ROOT, ConsoleParser

LANGUAGES = {
    **dict.fromkeys(["python", "python3", "py", "py3", "Python"], "python"),
    **dict.fromkeys(["pycon", "python-console", "PyCon"], "pycon"),
    **dict.fromkeys(["console", "shell-session"], "console"),
}

FRONT = ["---", "title: A page", "---", "", "# A page", ""]

#: What makes each kind fail, and in which line of the fence, counted from the line that opens it.
FAILING = {
    "python": (["x = 1", "1 / 0"], 2),
    "pycon": ([">>> x = 1", ">>> x", "2"], 2),
    "console": (["$ ledger say one", "one", "$ ledger say two", "three"], 3),
}

INFOS = [
    "{0}",
    " {0}",
    "   {0}  ",
    '{0} title="a page.py"',
    "{0} title='python'",
    '{0} hl_lines="1 2-3"',
    '{0} linenums="1"',
    '{0} title="x" linenums="1 2" hl_lines="2"',
    "{{ .{0} }}",
    "{{.{0}}}",
    '{{ .{0} .annotate title="x" }}',
    '{{ title="x" .{0} linenums="1" }}',
    "{{ #here .{0} }}",
    "{0} {{ .annotate }}",
    ".{0}",
]

CONTEXTS = {
    "plain": ([], ""),
    "paragraph": (["Some text."], ""),
    "admonition": (["!!! note", ""], "    "),
    "details": (['??? note "More"', ""], "    "),
    "tab": (['=== "One"', ""], "    "),
    "tab in admonition": (["!!! note", "", '    === "One"', ""], "        "),
    "list": (["- one", ""], "    "),
    "numbered list": (["1. one"], "   "),
    "quotation": ([], "> "),
    "nested quotation": ([], "> > "),
    "admonition by tab": (["!!! note", ""], "\t"),
}

UNTAKEN = [
    "{0} linenums=1",
    "{0} annotate",
    "{0},ignore",
    '{0} {{ .annotate }} title="x"',
    "{{ .annotate .{0} }}",
    "{{{0}}}",
    '{0} hl_lines="some"',
    "{0}{{ .annotate }}",
]


def fake_ledger(words):
    """Stands in for the command: does what its first argument says."""
    match words:
        case ["say", *rest]:
            print(*rest, sep="\n")
        case ["fail", code]:
            print("cannot", file=sys.stderr)
            return int(code)
        case ["both"]:
            print("out")
            print("err", file=sys.stderr)
        case ["exit", code]:
            raise SystemExit(int(code) if code.isdigit() else code)
        case ["crash"]:
            raise KeyError("lost")
        case ["where"]:
            print(Path.cwd() == ROOT, shutil.get_terminal_size().columns)
        case ["columns"]:
            print("one   \n\ntwo\n")
    return 0


def parsed(text):
    """A page of the book with this text, its console commands played by the fake."""
    document = Document(text, str(ROOT / "docs" / "page.md"))
    for parser in (*PARSERS[:-1], ConsoleParser(fake_ledger)):
        for region in parser(document):
            document.add(region)
    return document


def blamed(error, example):
    """The line of the page that a traceback ends in."""
    if isinstance(error, SyntaxError) and error.filename == example.path:
        return error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    return [frame.lineno for frame in frames if frame.filename == example.path][-1]


def outcome(example):
    """The line to look at, and what happened there."""
    try:
        example.evaluate()
    except SybilFailure as failure:
        return example.line, failure.result
    except Exception as error:
        return blamed(error, example), repr(error)
    return example.line, "passed"


def outcomes(*lines):
    """What happened to each example of a page with these lines after its front matter."""
    return [outcome(example) for example in parsed("\n".join([*FRONT, *lines, ""])).examples()]


def failures(*lines):
    return [(line, text) for line, text in outcomes(*lines) if text != "passed"]


def fenced(info, body, ticks="```", indent=""):
    return [f"{indent}{line}" for line in (f"{ticks}{info}", *body, ticks)]


# Every form is found, run and blamed by its line in the file.


@pytest.mark.parametrize("info", INFOS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_runs_each_info_string(language, info):
    body, offset = FAILING[LANGUAGES[language]]
    found = failures(*fenced(info.format(language), body))
    assert [line for line, _ in found] == [len(FRONT) + 1 + offset]


@pytest.mark.parametrize("ticks", ["```", "````", "~~~", "~~~~~"])
@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("kind", FAILING)
def test_runs_in_each_place(kind, context, ticks):
    above, indent = CONTEXTS[context]
    body, offset = FAILING[kind]
    found = failures(*above, *fenced(kind, body, ticks, indent), "", "Text.")
    assert [line for line, _ in found] == [len(FRONT) + len(above) + 1 + offset]


@pytest.mark.parametrize("kind", FAILING)
def test_blames_the_right_line_after_other_examples(kind):
    body, offset = FAILING[kind]
    good = [*fenced("py", ["y = 1"]), "", *fenced("pycon", [">>> y", "1"], "~~~", "    "), ""]
    found = failures(*good, *fenced(kind, body, indent="    "), "", *good)
    assert [line for line, _ in found] == [len(FRONT) + len(good) + 1 + offset]


def test_shares_names_between_the_examples_of_a_page():
    page = [*fenced("python", ["x = 2"]), *fenced("pycon", [">>> x + 1", "3"])]
    assert failures(*page, *fenced("py", ["assert x == 2"])) == []


@pytest.mark.parametrize("kind", FAILING)
def test_spans_whole_lines(kind):
    document = parsed("\n".join(["", *fenced(kind, FAILING[kind][0], indent="    ")]))
    region = [example.region for example in document][-1]
    text = document.text[region.start : region.end]
    assert f"\n{text}\n" in f"{document.text}\n"
    assert text.count("\n") == {"python": 3}.get(kind, 1)


def test_blames_a_syntax_error_by_its_line():
    ((line, text),) = failures(*fenced("python", ["x = 1", "", "x ="], indent="    "))
    assert line == len(FRONT) + 4
    assert "SyntaxError" in text


def site(text):
    """A page as the book's extensions render it, with the language of each fence."""
    return markdown.markdown(
        text,
        extensions=["attr_list", "pymdownx.highlight", "pymdownx.superfences"],
        extension_configs={"pymdownx.highlight": {"pygments_lang_class": True}},
    )


@pytest.mark.parametrize("info", INFOS)
def test_material_shows_what_is_run(info):
    assert 'class="language-python' in site("\n".join(fenced(info.format("python"), ["x = 1"])))


@pytest.mark.parametrize("info", UNTAKEN)
def test_material_does_not_show_what_is_refused(info):
    assert 'class="language-python' not in site("\n".join(fenced(info.format("python"), ["x = 1"])))


# Python


@pytest.mark.parametrize("language", ["python", "py", "python3", "pycon"])
def test_takes_prompts_for_a_session(language):
    body = ["# The sum.", ">>> x = 1", ">>> x + 1", "3", "", ">>> 'abcdef'", "'ab...'"]
    ((line, text),) = failures(*fenced(language, body))
    assert line == len(FRONT) + 4
    assert text == "Expected:\n    3\nGot:\n    2\n"


def test_runs_a_docstring_with_prompts_as_code():
    body = ["def f():", '    """', "    >>> f()", "    1", '    """', "    return 2", "assert f()"]
    assert outcomes(*fenced("python", body)) == [(len(FRONT) + 1, "passed")]


def test_runs_each_prompt_as_an_example_of_its_own():
    body = [">>> def f():", "...     return 1", ">>> f()", "1"]
    lines = [line for line, _ in outcomes(*fenced("pycon", body))]
    assert lines == [len(FRONT) + 2, len(FRONT) + 4]


@pytest.mark.parametrize(
    ("body", "offset", "message"),
    [
        (["x = 1"], 0, "there is no >>> in it"),
        ([], 0, "there is no >>> in it"),
        (["x = 1", ">>> 1", "1"], 1, "neither a prompt nor the output of one"),
        ([">>> 1", "1", "", "stray"], 4, "would be passed over: stray"),
        ([">>>1"], 0, "line 1 of the session lacks blank"),
    ],
)
def test_passes_over_no_line_of_a_session(body, offset, message):
    ((line, text),) = failures(*fenced("pycon", body))
    assert line == len(FRONT) + 1 + offset
    assert message in text


# What is content is not run.

NOT_RUN = [
    *(fenced(language, ["1 / 0", "$ false"]) for language in ["", "sh", "text", "toml", "json"]),
    *(fenced(language, ["1 / 0"]) for language in ["yaml", "markdown", "mermaid", "pytb", "diff"]),
    fenced('sh title="python main.py"', ["python -c '1 / 0'"]),
    fenced("{ .sh .annotate }", ["1 / 0"]),
    fenced("markdown", fenced("python", ["1 / 0"]), "````"),
    fenced("markdown", fenced("console", ["$ false"]), "~~~"),
    fenced("markdown", ['=== "One"', "", *fenced("python", ["1 / 0"], indent="    ")]),
    fenced("markdown", ["", "<!-- not run -->", *fenced("pycon", [">>> 1"])], "````", "    "),
    ["Text ```python` and ```` ```console ```` in a line."],
    ["``` python ```"],
]


@pytest.mark.parametrize("lines", NOT_RUN, ids=" ".join)
def test_leaves_content_alone(lines):
    assert outcomes(*lines, "", *fenced("py", [])) == [(len(FRONT) + len(lines) + 2, "passed")]


# What would vanish fails.


@pytest.mark.parametrize("info", UNTAKEN)
@pytest.mark.parametrize("language", ["python", "py", "pycon", "console"])
def test_refuses_an_info_string_that_material_does_not_take(language, info):
    ((line, text),) = failures(*fenced(info.format(language), []))
    assert line == len(FRONT) + 1
    assert f"the info string `{info.format(language)}` names an example" in text


BROKEN = [
    (["```python", "x = 1"], "the fence is never closed"),
    (["```console"], "the fence is never closed"),
    (["```sh", "x = 1"], "the fence is never closed"),
    (["    ```py", "    x = 1", "```", "", "```"], "line 9 stands further left and ends it"),
    (["    ```sh", "x", "    ```", "```"], "line 8 stands further left and ends it"),
    (["> ```python", "> x = 1", "", "Text."], "line 9 stands further left and ends it"),
    (["```python", "x = 1", "````"], "line 9 closes the fence with more ticks"),
    (["```sh", "x = 1", "````", "```"], "line 9 closes the fence with more ticks"),
    (["- ```python", "  x = 1", "  ```"], "no fence behind a list marker"),
    (["1. - ```console", "     $ ledger", "     ```"], "no fence behind a list marker"),
    ([":   ```pycon", "    >>> x", "    ```"], "no fence behind a list marker"),
]


@pytest.mark.parametrize(("lines", "message"), BROKEN)
def test_says_why_a_fence_is_broken(lines, message):
    line, text = failures(*lines)[0]
    assert line == len(FRONT) + 1
    assert message in text


@pytest.mark.parametrize("lines", [["- ```sh", "  x", "  ```"], ["```sh", "x", "````"]])
def test_finds_the_example_below_a_fence_that_is_not_run(lines):
    found = failures(*lines, "", *fenced("python", ["1 / 0"]))
    assert found[-1][0] == len(FRONT) + len(lines) + 3


# The comment that says so


@pytest.mark.parametrize("blank", [0, 1, 3])
@pytest.mark.parametrize("indent", ["", "    ", "> "])
@pytest.mark.parametrize("kind", FAILING)
def test_does_not_run_what_says_so(kind, indent, blank):
    marker = f"{indent}<!-- not run: needs a GPU -->"
    fence = fenced(kind, ["{{ boom }}", *FAILING[kind][0]], indent=indent)
    assert outcomes(marker, *[indent.rstrip()] * blank, *fence) == []


@pytest.mark.parametrize("marker", ["<!-- not run: -->", "<!-- not run -->", "<!--not run why-->"])
def test_wants_a_reason(marker):
    ((line, text),) = outcomes(marker, *fenced("python", ["1 / 0"]))
    assert line == len(FRONT) + 2
    assert "say why it is not run" in text


@pytest.mark.parametrize(("outer", "inner"), [("", "    "), ("    ", ""), ("  ", "    ")])
def test_wants_the_comment_indented_as_the_fence(outer, inner):
    fence = fenced("py", ["1 / 0"], indent=inner)
    ((line, text),) = outcomes(f"{outer}<!-- not run: why -->", *fence)
    assert line == len(FRONT) + 2
    assert "must be indented as the fence" in text


def test_runs_a_fence_whose_comment_is_not_right_above():
    page = ["<!-- not run: why -->", "Text.", *fenced("python", ["1 / 0"])]
    assert [line for line, _ in failures(*page)] == [len(FRONT) + 4]


# Templates


def test_drops_the_lines_of_a_raw_block():
    code = ["{% raw %}", "x = f'{{1}}'", "{%- endraw -%}", "assert x == '{1}'", "1 / 0"]
    session = [">>> print(2 * '{')", "{% raw %}", "{{", "{% endraw %}", ">>> 1", "2"]
    console = ["{% raw %}", "$ ledger say {{a}}", "{{a}}", "{% endraw %}", "$ ledger say b", "c"]
    assert [line for line, _ in failures(*fenced("python", code))] == [len(FRONT) + 6]
    assert [line for line, _ in failures(*fenced("pycon", session))] == [len(FRONT) + 6]
    assert [line for line, _ in failures(*fenced("console", console))] == [len(FRONT) + 6]


def test_takes_a_raw_block_around_a_fence():
    page = ["{% raw %}", *fenced("python", ["assert f'{{1}}' == '{1}'"]), "{% endraw %}"]
    assert failures(*page) == []


@pytest.mark.parametrize("tag", ["{{ value }}", "{% if x %}", "{# note #}"])
@pytest.mark.parametrize("kind", FAILING)
def test_refuses_a_template_in_an_example(kind, tag):
    ((line, text),) = failures(*fenced(kind, ["", tag, *FAILING[kind][0]], indent="    "))
    assert line == len(FRONT) + 3
    assert "examples are run as they are written" in text


def test_wants_raw_tags_on_lines_of_their_own():
    ((line, text),) = failures(*fenced("python", ["x = 1", "y = '{% raw %}{{{% endraw %}'"]))
    assert line == len(FRONT) + 3
    assert "on a line of their own" in text


# Console

AGREEING = {
    "one line": ["$ ledger say hello", "hello"],
    "each name": ["$ fusion-ledger say a", "a", "$ python -m ledger say b", "b"],
    "quoted": ["$ ledger say 'a | b' \"c;d\" --x=$1,2:3#4", "a | b", "c;d", "--x=$1,2:3#4"],
    "no output": ["$ ledger", "$ ledger", "", "$ ledger", ""],
    "blank lines": ["$ ledger columns", "one", "", "two", "", "$ ledger"],
    "streams": ["$ ledger both", "out", "err"],
    "ellipsis in a line": ["$ ledger say 'it took 17 s'", "it took ... s"],
    "ellipsis for lines": ["$ ledger say a b c d", "a", "...", "d"],
    "ellipsis at the end": ["$ ledger say a b c", "a", "..."],
    "exit code": ["$ ledger fail 2", "cannot", "$ echo $?", "2", "$ ledger say a", "a"],
    "exit code 0": ["$ ledger say a", "a", "$ echo $?", "0"],
    "help": ["$ ledger exit 0"],
    "exit": ["$ ledger exit 3", "$ echo $?", "3"],
    "exit with words": ["$ ledger exit sorry", "sorry", "$ echo $?", "1"],
    "crash": ["$ ledger crash", "Traceback...", "KeyError: 'lost'", "$ echo $?", "1"],
    "directory and width": ["$ ledger where", "True 80"],
}


@pytest.mark.parametrize("name", AGREEING)
def test_agrees_with_a_console(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "40")
    found = outcomes(*fenced("console", AGREEING[name]))
    assert {text for _, text in found} == {"passed"}
    commands = [line for line in AGREEING[name] if line.startswith("$ ") and line != "$ echo $?"]
    assert len(found) == len(commands)


DIFFERING = {
    "other output": (["$ ledger say b", "a"], 1, "\n-a\n+b"),
    "output kept quiet": (["$ ledger say b"], 1, "\n+b"),
    "output made up": (["$ ledger", "b"], 1, "\n-b"),
    "indentation": (["$ ledger say b", " b"], 1, "\n- b\n+b"),
    "case": (["$ ledger say True", "1"], 1, "\n-1\n+True"),
    "exit code kept quiet": (["$ ledger fail 2", "cannot"], 1, "the exit code is 2; if that is"),
    "other exit code": (["$ ledger exit 2", "$ echo $?", "1"], 1, "is 2, and the page shows '1'"),
    "no exit code": (["$ ledger", "$ echo $?"], 1, "the exit code is 0, and the page shows ''"),
    "second command": (["$ ledger", "$ ledger say a", "b"], 2, "$ ledger say a\n--- the page\n"),
    "nothing": ([], 0, "nothing to run"),
    "no prompt": (["ledger"], 0, "nothing to run"),
    "output first": (["a", "$ ledger"], 1, "output ahead of the first command: a"),
}


@pytest.mark.parametrize("name", DIFFERING)
def test_differs_from_a_console(name):
    body, offset, message = DIFFERING[name]
    ((line, text),) = failures(*fenced("console", body))
    assert line == len(FRONT) + 1 + offset
    assert message in text


FORBIDDEN = [
    "pip install fusion-ledger",
    "make test",
    "ledgers",
    "python ledger",
    "python -m ledger.cli",
    "python3 -m ledger",
    "X=1 ledger",
    "ledger | head",
    "ledger say a>file",
    "ledger && ledger",
    "ledger; ledger",
    "ledger say 'a",
    "ledger say \\",
    "echo $?",
    "",
]


@pytest.mark.parametrize("command", FORBIDDEN)
def test_says_what_a_console_may_hold(command):
    ((line, text),) = failures(*fenced("console", [f"$ {command}"]))
    assert line == len(FRONT) + 2
    assert "a console fence may hold `ledger …`, `fusion-ledger …` and `python -m ledger …`" in text
    assert "belongs in a `sh` fence" in text


def test_asks_for_the_exit_code_once():
    found = failures(*fenced("console", ["$ ledger", "$ echo $?", "0", "$ echo $?", "0"]))
    assert [line for line, _ in found] == [len(FRONT) + 5]


def test_runs_the_command_itself():
    document = Document("```console\n$ ledger no-such-command\n...\n$ echo $?\n2\n```\n", "page.md")
    ((region,),) = [list(PARSERS[-1](document))]
    document.add(region)
    assert [outcome(example) for example in document] == [(2, "passed")]


# Under pytest


def test_pytest_runs_pages_and_docstrings_once_each(tmp_path):
    for name in (
        "conftest.py",
        "pyproject.toml",
        "tests/fences.py",
        "ledger/prose/__init__.py",
        "ledger/prose/fences.py",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    files = {
        "docs/index.md": [*FRONT, *fenced('py title="x"', ["1 / 0"], indent="    ")],
        "docs/a/b/c.md": [*FRONT, "<!-- not run: no GPU -->", *fenced("python", ["1 / 0"])],
        "docs/README.md": fenced("pycon", [">>> 1", "2"]),
        "README.md": fenced("console", ["$ ledger", "there", "$ ledger", "here"]),
        "tests/data/page.md": fenced("python", ["1 / 0"]),
        "ledger/__init__.py": ['"""', ">>> 1", "1", '"""'],
        "ledger/cli.py": ["def main(words):", "    print('here')", "    return 0"],
    }
    for name, lines in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("\n".join([*lines, ""]), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-v", "--color=no"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    report = result.stdout
    assert "3 failed, 2 passed in" in report, report + result.stderr
    assert re.search(r"docs.index\.md:8: ZeroDivisionError", report), report
    assert "README.md::line:2,column:1 FAILED" in report
    assert "README.md::line:4,column:1 PASSED" in report
    assert "docs/a/b/c.md" not in report
    assert "ledger/__init__.py::ledger PASSED" in report


# The book

PAGES = [*sorted((ROOT / "docs").rglob("*.md")), *ROOT.glob("README.md")]
EXAMPLE = re.compile(r"(?<![\w-])(?:python3?|py3?|pycon|console)(?![\w-])", re.IGNORECASE)


def spans(text):
    """The first and the last line of each example on a page, found by going through its lines."""
    opened = None
    above = ""
    for number, line in enumerate(map(str.rstrip, text.splitlines()), 1):
        match = re.match(r"([\s>]*)(`{3,}|~{3,})([^`]*)$", line)
        if opened is None and match:
            marked = above.lstrip(" >").startswith("<!-- not run:")
            opened = number, *match.groups(), marked
        elif opened and match and match.groups() == (*opened[1:3], ""):
            if EXAMPLE.search(re.sub(r"""".*?"|'.*?'""", "", opened[3])) and not opened[4]:
                yield opened[0], number
            opened = None
        above = line if line.strip(" >") else above
    assert opened is None, f"the fence in line {opened[0]} is never closed"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_example_of_the_book_is_run(page):
    text = page.read_text(encoding="utf-8")
    lines = [example.line for example in parsed(text).examples()]
    for first, last in spans(text):
        assert any(first <= line <= last for line in lines), f"line {first} is passed over"


def test_the_scan_finds_examples_itself():
    page = [
        *fenced(" python title='x'", ["1"], indent="    "),
        *fenced("markdown", fenced("python", ["1"]), "````"),
        "<!-- not run: why -->",
        *fenced("py", ["1"]),
        *fenced("{ .console }", ["$ ledger"]),
        *fenced("sh", ["x"]),
    ]
    assert list(spans("\n".join(page))) == [(1, 3), (13, 15)]
