"""Files of answers as programs and people write them: what is read, and what is listed."""

from codecs import BOM_UTF16_LE

import pytest

from engine.errors import InputError
from quiz.sets.problem_set import Student

THREE = ("5 GB", "6 GB", "true, since")

SHIFTED = "shifted? quote cells with separators inside"


def texts(answers):
    return {
        sheet.student.id: {at + 1: cell.text for at, cell in sheet.cells.items()}
        for sheet in answers.sheets
    }


def why(answers):
    return [(one.where, one.cells, one.why) for one in answers.unused]


def as_cells(*row):
    return dict(enumerate(row, 1))


@pytest.mark.parametrize(
    "header",
    [
        "student,1,2,3",
        "student,q1,q2,q3",
        "Student,Q 1,Q 2,Q 3",
        "id,question 1,Question 2,QUESTION 3",
        "student,zero-states,model-states,claim",
        "student,Zero States,model_states,Claim",
        "email,1. How much?,2) And this?,3: Why?",
        "Email address,Response 1,Response 2,Response 3",
        "student,Q1 (1 point),Q2 [2 points],Q3.",
        "student,#1,No. 2,Q-3",
        "Matriculation,1,2,3",
        "username,Answer 1,Answer to 2,Answer to question 3",
    ],
)
def test_a_column_of_the_wide_form_names_its_question(for_all, read, header):
    answers = read(for_all, header, 'x,5 GB,6 GB,"true, since"')
    assert texts(answers) == {"x": as_cells(*THREE)}


def test_a_column_may_have_the_id_of_its_problem_among_other_words(for_all, read):
    ids = [problem.id for problem in for_all.variants[0].problems]
    header = ",".join(
        ["name,id", *(f"452{at}: {id_} on states,1.0" for at, id_ in enumerate(ids))]
    )
    answers = read(for_all, header, 'X,x,5 GB,0,6 GB,1,"true, since",0')
    assert texts(answers) == {"x": as_cells(*THREE)}
    assert [one.cells for one in answers.unused] == [1, 1, 1]


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("student,question,answer", "123"),
        ("answer,problem,student", "123"),
        ("id,item,response", "123"),
        ("student,question,answer", ("q1", "Question 2", "3")),
        ("student,problem,answer", ("zero-states", "model-states", "claim")),
    ],
)
def test_a_row_of_the_long_form_names_its_question(for_all, read, header, names):
    titles = header.split(",")
    place = {"student": "x", "id": "x"}
    rows = [
        [
            place.get(title, f'"{text}"' if title in {"answer", "response"} else name)
            for title in titles
        ]
        for name, text in zip(names, THREE, strict=True)
    ]
    answers = read(for_all, header, *(",".join(row) for row in rows))
    assert texts(answers) == {"x": as_cells(*THREE)}
    assert "a row an answer" in answers.how


def test_a_row_of_the_long_form_may_name_the_id_of_the_problem(for_each, read):
    id_ = for_each.variants[1].problems[0].id
    answers = read(for_each, "student,problem,answer", f"bob,{id_},5 GB", f"ada,{id_},6 GB")
    assert texts(answers) == {"bob": {1: "5 GB"}}
    assert why(answers) == [("line 3", 1, f"{id_} is not asked of ada")]


def test_columns_by_id_of_a_personal_set_are_read_for_those_they_are_asked_of(for_each, read):
    ids = [variant.problems[0].id for variant in for_each.variants]
    answers = read(for_each, f"student,{','.join(ids)}", "ada,1 GB,,", "bob,9 GB,2 GB,")
    assert texts(answers) == {"ada": {1: "1 GB"}, "bob": {1: "2 GB"}}
    assert [(one.text, one.line) for one in answers.unused if one.text] == [("9 GB", 3)]


@pytest.mark.parametrize(
    "data",
    [
        b'\xef\xbb\xbfstudent,1,2,3\r\nx,5 GB,6 GB,"true, since"\r\n',
        BOM_UTF16_LE + 'student,1,2,3\nx,5 GB,6 GB,"true, since"'.encode("utf-16-le"),
        b"student;1;2;3\nx;5 GB;6 GB;true, since\n",
        b"sep=;\nstudent;1;2;3\nx;5 GB;6 GB;true, since\n",
        b'"sep=;"\r\nstudent;1;2;3\r\nx;5 GB;6 GB;true, since\r\n',
        b'sep=,\r\nstudent,1,2,3\r\nx,5 GB,6 GB,"true, since"\r\n',
        b"student\t1\t2\t3\nx\t5 GB\t6 GB\ttrue, since\n",
        b'student,1,2,3\rx,5 GB,6 GB,"true, since"\r',
        b'\n\nstudent,1,2,3\n\n,,,\nx,5 GB,6 GB,"true, since"\n,,,\n',
        b'student,1,2,3,,\nx,5 GB,6 GB,"true, since",,,,\n',
        b' student , 1 ,2, 3\n x ,  5 GB ,6 GB,"true, since "\n',
    ],
)  # fmt: skip
def test_a_file_is_read_whatever_program_wrote_it(for_all, read, data):
    answers = read(for_all, data)
    assert texts(answers) == {"x": as_cells(*THREE)}
    assert not any(one.text for one in answers.unused)


def test_lines_are_counted_as_an_editor_counts_them(for_all, read):
    answers = read(for_all, b'sep=,\nstudent,1\n\nx,"5\nGB"\ny,6 GB\n')
    assert [sheet.cells[0].line for sheet in answers.sheets] == [4, 6]


def test_a_cell_of_several_lines_is_one_answer(for_all, read):
    assert texts(read(for_all, "student,1", 'x,"5', 'GB"')) == {"x": {1: "5\nGB"}}


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("-5", "-5"),
        ("'-5", "-5"),
        ("'=16*7e9", "=16*7e9"),
        ("=16*7e9", "=16*7e9"),
        ("'+5 GB", "+5 GB"),
        ("'@b", "@b"),
        ("''=5", "'=5"),
        ("'5 GB", "'5 GB"),
        ("'", "'"),
    ],
)
def test_the_apostrophe_that_guards_a_formula_is_taken_off(for_all, read, cell, text):
    assert texts(read(for_all, "student,1", f"x,{cell}")) == {"x": {1: text}}


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("Total,1,2,3", "a row of totals"),
        ("  Points Possible,1,2,3", "a row of totals"),
        ("Average:,1,2,3", "a row of totals"),
        ("student,1,2,3", "the header again"),
        (",5 GB,,", "nobody's: the id is empty"),
    ],
)
def test_a_row_that_is_nobodys_is_listed(for_all, read, row, says):
    answers = read(for_all, "student,1,2,3", "x,5 GB,,", row)
    assert why(answers) == [("line 3", 3, says)]
    assert list(texts(answers)) == ["x"]


def test_a_student_of_the_key_may_be_called_total(draw, read):
    problems = draw([{"kinds": ["zero-states"]}], (Student(id="total"), Student(id="x")))
    assert list(texts(read(problems, "student,1", "total,5 GB"))) == ["total"]


def test_an_unknown_student_of_a_personal_set_is_listed_with_what_was_typed(for_each, read):
    answers = read(for_each, "student,1,2,3", "adda,5 GB,,true", "ada,6 GB,,")
    (one,) = answers.unused
    assert (one.line, one.cells, one.text) == (2, 3, "adda | 5 GB | true")
    assert one.why == "'adda' is not in the key; did you mean ada?"


def test_an_unknown_student_of_a_set_for_everyone_is_a_new_one(for_all, read):
    assert list(texts(read(for_all, "student,1", "zoe,1", "adam,2"))) == ["adam", "zoe"]


def test_an_id_of_a_personal_set_is_found_in_whatever_case_and_form_it_is_typed(for_each, read):
    decomposed = "C\N{COMBINING CARON}APEK"
    assert list(texts(read(for_each, "student,1", f"{decomposed},1", "ADA,2"))) == ["ada", "čapek"]


def test_two_ids_that_differ_in_case_alone_are_told_of(for_all, read):
    answers = read(for_all, "student,1", "Ada,1", "ada,2")
    assert "Ada and ada are 2 students: their ids differ in case alone" in answers.notes


def test_the_students_of_a_personal_set_are_looked_for_in_every_column(for_each, read):
    answers = read(for_each, "id,login,nickname,1", "7,x,ada,5 GB", "8,y,bob,6 GB")
    assert list(texts(answers)) == ["ada", "bob"]
    assert "students by 'nickname'" in answers.how


def test_names_are_kept_where_the_key_has_none(for_all, read):
    answers = read(for_all, "Last name,First name,Email address,1", "King,Ada,ada@x.org,5 GB")
    assert answers.sheets[0].student.said == "King Ada (ada@x.org)"


def test_of_a_student_twice_the_last_row_counts_and_the_other_is_listed(for_all, read):
    answers = read(for_all, "student,1,2,3", "x,5 GB,6 GB,", "y,1,,", "x,7 GB,,")
    assert texts(answers)["x"] == {1: "7 GB", 2: "", 3: ""}
    (one,) = answers.unused
    assert (one.line, one.cells, one.text) == (2, 3, "x | 5 GB | 6 GB")
    assert one.why == "x again in line 4, which counts"
    assert one.again == (("x", 0, "5 GB"), ("x", 1, "6 GB"), ("x", 2, ""))


def test_of_an_answer_twice_the_last_row_counts_and_the_other_is_listed(for_all, read):
    answers = read(for_all, "student,question,answer", "x,1,5", "x,2,6", "x,1,5")
    assert texts(answers) == {"x": {1: "5", 2: "6"}}
    assert why(answers) == [("line 2", 1, "x again in line 4, which counts and says the same")]


def test_a_short_row_has_empty_cells_and_is_told_of(for_all, read):
    answers = read(for_all, "student,1,2,3", "x,5 GB")
    assert texts(answers) == {"x": {1: "5 GB", 2: "", 3: ""}}
    assert "rows shorter than the header, which lack empty cells: 1" in answers.notes


def test_cells_beyond_the_header_are_listed(for_all, read):
    answers = read(for_all, "student,1", "x,5 GB,more,,and more")
    assert why(answers) == [("line 2", 2, f"stands beyond the last title; {SHIFTED}")]
    assert answers.unused[0].text == "more | and more"


def test_a_column_that_is_no_question_is_listed_with_how_much_stands_there(for_all, read):
    answers = read(for_all, "student,Section,1,9,1.0", "x,A,5,7,1", "y,,6,,")
    assert why(answers) == [
        ("column 1.0", 2, "names no question; 1 of 2 rows have text there"),
        ("column 9", 2, "there is no question 9; 1 of 2 rows have text there"),
        ("column Section", 2, "names no question; 1 of 2 rows have text there"),
    ]


def test_of_question_and_response_the_response_is_the_answer(for_all, read):
    header = "Email address,Question 1,Response 1,Right answer 1,Q. 2 /1.00"
    answers = read(for_all, header, "x,How much?,5 GB,6 GB,1.00")
    assert texts(answers) == {"x": {1: "5 GB"}}
    assert why(answers)[1] == (
        "column Question 1",
        1,
        "Response 1 has the answers; 1 of 1 rows have text there",
    )


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (("student,Section", "x,A"), "no column names a question: 'student', 'Section'"),
        (("student,1,q1", "x,5,6"), "'1' and 'q1' are question 1; leave one of them out"),
        (("1,2,3", "5,6,7"), "no column says whose the answers are"),
        (("student,1,2",), "has no row below its header"),
        (("",), "is empty"),
        (("student,1", 'x,"5'), "line 2: cannot be read as CSV: unexpected end of data"),
        ((b"student,1\nx,5 \xb5s\n",), r'byte 14 cannot be read; save it as "CSV UTF-8"'),
        (("student,1", "x,5\0"), "holds characters of number 0"),
        (("student,1".encode("utf-16-le"),), "holds characters of number 0"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_what_to_do(for_all, read, lines, says):
    with pytest.raises(InputError, match=says):
        read(for_all, *lines)


def test_a_kind_that_two_questions_are_of_names_none(draw, read):
    problems = draw([{"kinds": ["zero-states"], "count": 2}])
    with pytest.raises(InputError, match="questions 1, 2 are of the kind zero-states; name it by"):
        read(problems, "student,zero-states,2", "x,5,6")


def test_a_long_answer_is_refused_by_itself_and_not_with_its_file(for_all, read):
    answers = read(for_all, "student,1", f"x,{'7' * 200_000}")
    assert len(answers.sheets[0].cells[0].text) == 200_000


def test_rows_longer_than_the_header_are_told(for_all, read):
    answers = read(for_all, "student;1;2", "x;5;3 GB;7 GB", "y;5 GB;7 GB;")
    assert f"rows longer than the header: 1; {SHIFTED}" in answers.notes


def test_of_two_columns_with_one_name_the_one_that_is_read_is_told(for_all, read):
    answers = read(for_all, "id,ID,1", "x,z,5 GB")
    assert "columns 1 and 2 are called 'id'; read: 1" in answers.notes


def test_an_id_near_several_that_differ_in_case_is_told_with_all_as_they_stand(draw, read):
    students = tuple(Student(id=id_) for id_ in ("Ann", "ann"))
    answers = read(
        draw([{"kinds": ["zero-states"]}], students), "student,1", "anne,5 GB", "ann,1 GB"
    )
    assert "did you mean Ann or ann?" in answers.unused[0].why
