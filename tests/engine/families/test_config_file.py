"""A config.json as a file: what is read, and what is refused before it is."""

import json
import os
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from small_configs import LLAMA, MIXTRAL

from engine.architecture import Architecture
from engine.errors import InputError
from engine.families.config import architecture_of, read_config


def read(path: Path, data: bytes) -> Architecture:
    path.write_bytes(data)
    return read_config(path)[0]


def test_a_file_is_read(tmp_path):
    assert read(tmp_path / "c.json", json.dumps(LLAMA).encode()) == architecture_of(LLAMA)


def test_a_file_names_its_class(tmp_path):
    path = tmp_path / "c.json"
    path.write_text(json.dumps(MIXTRAL))
    assert read_config(path)[1] == "mixtral"


def test_a_byte_order_mark_is_no_fault(tmp_path):
    data = json.dumps(LLAMA).encode("utf-8-sig")
    assert read(tmp_path / "c.json", data) == architecture_of(LLAMA)


def test_the_last_of_two_equal_keys_counts(tmp_path):
    data = json.dumps(LLAMA)[:-1] + ', "vocab_size": 7}'
    assert read(tmp_path / "c.json", data.encode()).vocab == 7


def test_a_number_too_large_for_a_float_is_no_size(tmp_path):
    data = json.dumps(LLAMA).replace("128", "1e400")
    with pytest.raises(InputError, match="vocab_size: inf is not a whole number"):
        read(tmp_path / "c.json", data.encode())


UNREADABLE = [
    (b"", "is not JSON: Expecting value at line 1, column 1"),
    (b'{\n "a": }', "at line 2, column 7"),
    (b"[1]", "holds a list, not a JSON object"),
    (b"null", "holds null, not a JSON object"),
    (b'{"a": NaN}', "is not JSON: NaN is not a JSON number"),
    (b'{"a": -Infinity}', "is not JSON: -Infinity is not a JSON number"),
    (b'{"a": ' + b"9" * 5000 + b"}", "is not JSON: Exceeds the limit"),
    (b"[" * 200_000, "is nested too deeply"),
    (b'{"a":' * 100_000, "is nested too deeply"),
    (b'\xff{"a": 1}', "is not UTF-8 text: byte 0"),
    (b'{"a": "' + b"x" * 1_048_576 + b'"}', "is 1.00 MiB; a config.json has at most 1.00 MiB"),
]


@pytest.mark.parametrize(("data", "said"), UNREADABLE, ids=[said for _, said in UNREADABLE])
def test_a_file_that_is_no_config_is_refused(tmp_path, data, said):
    with pytest.raises(InputError) as caught:
        read(tmp_path / "c.json", data)
    (fault,) = caught.value.faults
    assert said in str(fault)


def test_a_large_file_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "weights.json"
    with path.open("wb") as file:
        file.truncate(100 * 10**9)
    start = time.perf_counter()
    with pytest.raises(InputError, match=r"93\.13 GiB"):
        read_config(path)
    assert time.perf_counter() - start < 1


def test_a_folder_is_refused_by_what_it_is(tmp_path):
    with pytest.raises(InputError, match=r"is a folder; name a config\.json"):
        read_config(tmp_path)


def test_a_missing_file_is_refused_by_what_it_is(tmp_path):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_config(tmp_path / "none.json")


def test_a_path_with_a_null_byte_is_refused():
    with pytest.raises(InputError, match=r"is not a path|cannot be read"):
        read_config(Path("a\0b"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_without_permission_is_refused_by_what_it_is(tmp_path):
    path = tmp_path / "c.json"
    path.write_text("{}")
    path.chmod(0)
    with pytest.raises(InputError, match="cannot be read: Permission denied"):
        read_config(path)


def test_an_endless_device_is_refused():
    with pytest.raises(InputError, match="is not a regular file"):
        read_config(Path("/dev/zero"))


def test_a_pipe_without_a_writer_is_refused_at_once(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(InputError, match="is not a regular file"):
        read_config(path)
