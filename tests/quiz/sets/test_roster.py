"""A roster is read as spreadsheets write it."""

import codecs

import pytest

from engine.errors import InputError
from quiz.sets.problem_set import Student
from quiz.sets.roster import read_roster

TWO = (Student(id="s1", name="Ann Lee"), Student(id="s2", name="Bo"))


@pytest.mark.parametrize(
    "data",
    [
        b"id,name\ns1,Ann Lee\ns2,Bo\n",
        b"\xef\xbb\xbfid;name\r\ns1;Ann Lee\r\n\r\ns2;Bo\r\n",
        b"name\tstudent_id\nAnn Lee\ts1\nBo\ts2",
        b'"Student ID","Name"\n"s1","Ann\nLee"\n"s2","Bo"\n',
        codecs.BOM_UTF16_LE + "id,name\ns1,Ann Lee\ns2,Bo\n".encode("utf-16-le"),
    ],
)
def test_a_roster_is_read_whatever_wrote_it(tmp_path, data):
    (tmp_path / "class.csv").write_bytes(data)
    assert read_roster(tmp_path / "class.csv") == TWO


def test_the_first_column_has_the_ids_where_the_header_says_nothing(tmp_path):
    (tmp_path / "class.csv").write_text("Matrikel,Kurs\n17,A\n18,B\n")
    assert [one.id for one in read_roster(tmp_path / "class.csv")] == ["17", "18"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "class.csv: is empty"),
        ("id,name\n", "class.csv: has no student"),
        ("id,name\ns1,Ann\n,Bo\n", "class.csv, line 3: has no id"),
        ("id\ns1\ns2\ns1\n", "'s1' stands there 2 times"),
        ('id,name\ns1,"Ann\n', "class.csv, line 2: cannot be read as CSV"),
        (f"id\n{'x' * 101}\n", "line 2: "),
        ('id\n"a\x07b"\n', "is no id"),
        ("id,name,ID\ns1,Ann,s2\n", "class.csv, header: 2 columns are called 'id'"),
        ("id,name,name\ns1,Ann,Bo\n", "class.csv, header: 2 columns are called 'name'"),
        ("id\n" + "\n".join(f"s{n}" for n in range(2001)), "2,001 students are more than 2,000"),
    ],
)
def test_what_is_no_roster_is_told(tmp_path, text, says):
    (tmp_path / "class.csv").write_text(text)
    with pytest.raises(InputError) as caught:
        read_roster(tmp_path / "class.csv")
    assert says in str(caught.value)


def test_a_line_is_counted_where_its_row_begins(tmp_path):
    (tmp_path / "class.csv").write_text('name,id\n"Ann\n\nLee",s1\nBo,\n')
    with pytest.raises(InputError, match="line 5: has no id"):
        read_roster(tmp_path / "class.csv")
