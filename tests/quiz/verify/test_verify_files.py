import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.errors import InputError
from quiz.output.files import output_faults, write_text, writing

SIZES = (
    *("--layers", "1", "--hidden", "64", "--heads", "4", "--ffn", "128", "--vocab", "1000"),
    *("--sequence", "64", "--gpu", "t4"),
)
posix = pytest.mark.skipif(os.name == "nt", reason="devices and limits of POSIX")


def faults(read=None, **asked):
    return [str(fault) for fault in output_faults(asked, read or {})]


def test_a_file_in_a_folder_that_is_there_is_fine(tmp_path):
    (tmp_path / "old").write_text("")
    assert faults(html=str(tmp_path / "new"), snapshot=str(tmp_path / "old")) == []


def test_what_is_not_asked_for_has_no_fault():
    assert faults(html=None, snapshot=None) == []


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("", "html: is empty; name a file"),
        (" ", "html: is empty; name a file"),
        ("-", "html: - is no file: what is written here is not printed; name a file"),
        ("folder", "folder is a folder; name a file"),
        ("nowhere/page.html", "nowhere; name a file in a folder that is there"),
        ("x" * 300, "cannot be written: File name too long"),
        ("nul\0", "cannot be written: embedded null byte"),
    ],
)
def test_a_file_that_cannot_be_written_is_told_before_the_work(tmp_path, monkeypatch, name, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (fault,) = faults(html=name)
    assert says in fault


@posix
def test_a_device_is_refused_because_a_file_would_take_its_place():
    assert faults(html=os.devnull) == [
        "html: /dev/null is not a regular file; name a file in a folder that is there"
    ]
    assert Path(os.devnull).is_char_device()


def test_the_file_that_the_output_goes_to_is_refused(tmp_path):
    for number in (1, 2):
        before = os.dup(number)
        with (tmp_path / "out").open("w") as out:
            os.dup2(out.fileno(), number)
            try:
                told = faults(html=str(tmp_path / "out"), snapshot=str(tmp_path / "other"))
            finally:
                os.dup2(before, number)
                os.close(before)
        assert told == [f"html: {tmp_path / 'out'} is where the output goes; name another file"]


def test_two_files_of_one_name_are_refused(tmp_path):
    one, same = tmp_path / "one", tmp_path / "." / "one"
    assert faults(snapshot=str(one), html=str(same)) == [
        f"html: {same} is what snapshot names; name another file"
    ]


def test_the_scenario_is_not_written_over(tmp_path):
    path = str(tmp_path / "run.toml")
    assert faults({"SCENARIO": path}, html=path) == [
        f"html: {path} is what SCENARIO names; name another file"
    ]


def test_a_text_is_written_whole_and_nothing_lies_beside_it(tmp_path):
    (tmp_path / "page").write_text("old")
    write_text(tmp_path / "page", "“new”")
    assert [(path.name, path.read_text("utf-8")) for path in tmp_path.iterdir()] == [
        ("page", "“new”")
    ]


def test_a_text_that_cannot_be_written_leaves_what_was_there(tmp_path):
    (tmp_path / "page").write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_text(tmp_path / "page", "a lone surrogate \ud800")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("page", "old")]


@posix
def test_through_a_link_the_file_is_written_that_it_names(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "page")
    with writing("html", str(tmp_path / "link")) as path:
        write_text(path, "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "page").read_text() == "new"


def test_a_file_that_cannot_be_written_after_all_is_told_by_its_option(tmp_path):
    with pytest.raises(InputError) as told, writing("html", str(tmp_path / "gone" / "x")) as path:
        write_text(path, "text")
    assert (
        str(told.value)
        == f"html: {tmp_path / 'gone' / 'x'} could not be written: No such file or directory"
    )


@posix
def test_files_are_written_though_nobody_reads_the_report(environment, tmp_path):
    pytest.importorskip("torch")
    reading, writing_to = os.pipe()
    os.close(reading)
    files = "--html", str(tmp_path / "page"), "--snapshot", str(tmp_path / "taken")
    run = subprocess.run(
        [sys.executable, "-m", "quiz", "verify", *SIZES, *files],
        stdout=writing_to,
        stderr=subprocess.PIPE,
        env=environment,
        check=False,
    )
    os.close(writing_to)
    assert run.stderr == b""
    assert {path.name for path in tmp_path.iterdir()} == {"page", "taken"}


def test_when_the_disk_is_full_the_report_is_out_and_no_half_page_lies_there(
    environment, with_limit, tmp_path
):
    pytest.importorskip("torch")
    page = tmp_path / "page.html"
    run = subprocess.run(
        [*with_limit(1000), "verify", *SIZES, "--html", str(page)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stderr == (
        f"memquiz: 1 thing to mend\n  --html: {page} could not be written: File too large\n"
    )
    assert (run.returncode, list(tmp_path.iterdir())) == (2, [])
    assert "\nfits           yes: " in run.stdout
