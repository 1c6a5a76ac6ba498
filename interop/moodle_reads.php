<?php
// Gives a file to the importer of an installed Moodle, answers its questions, and prints what
// Moodle has and how it marks, as JSON: php moodle_reads.php MOODLE FORMAT FILE RESPONSES
// RESPONSES: {idnumber: [{field: value, …}, …]}; a pick is typed by its text.

define('CLI_SCRIPT', true);
[, $home, $name, $file, $typed] = $argv;
require($home . '/config.php');
require_once($CFG->libdir . '/questionlib.php');
require_once($CFG->dirroot . '/course/lib.php');
require_once($CFG->dirroot . '/question/format.php');
require_once($CFG->dirroot . "/question/format/$name/format.php");
require_once($CFG->dirroot . '/question/engine/lib.php');

\core\session\manager::set_user(get_admin());
$PAGE->set_context(context_system::instance());

function import_file($name, $file) {
    $fresh = (object) ['fullname' => 'read', 'shortname' => uniqid('read'), 'category' => 1];
    $course = create_course($fresh);
    $context = context_course::instance($course->id);
    $class = "qformat_$name";
    $format = new $class();
    $format->setCategory(question_make_default_categories([$context]));
    $format->setContexts([$context]);
    $format->setCourse($course);
    $format->setFilename($file);
    $format->setRealfilename(basename($file));
    $format->setMatchgrades('error');
    $format->setCatfromfile(true);
    $format->setContextfromfile(false);
    $format->setStoponerror(true);
    $format->set_display_progress(false);
    ob_start();
    $done = $format->importpreprocess() && $format->importprocess() && $format->importpostprocess();
    $said = ob_get_clean();
    if (!$done || preg_match('/error|warning/i', $said)) {
        fwrite(STDERR, "not imported: $said\n");
        exit(1);
    }
    return [$format->questionids, $context];
}

function told($data) {
    global $DB;
    $rows = [];
    foreach ($data->options->answers ?? [] as $one) {
        $rows[] = [
            'text' => $one->answer, 'fraction' => (float) $one->fraction,
            'tolerance' => $one->tolerance ?? null, 'feedback' => $one->feedback,
        ];
    }
    $units = array_map(fn($one) => [$one->unit, (float) $one->multiplier],
        array_values($data->options->units ?? []));
    $matches = array_map(fn($one) => [$one->questiontext, $one->answertext],
        array_values($data->options->subquestions ?? []));
    return [
        'type' => $data->qtype, 'name' => $data->name, 'text' => $data->questiontext,
        'points' => (float) $data->defaultmark, 'id' => $data->idnumber ?? '',
        'general' => $data->generalfeedback, 'answers' => $rows, 'units' => $units,
        'matches' => $matches, 'grader' => $data->options->graderinfo ?? '',
        'hints' => array_map(fn($one) => $one->hint, array_values($data->hints ?? [])),
        'gaps' => array_map('told', array_values($data->options->questions ?? [])),
    ];
}

function marked($question, $context, $response) {
    $usage = question_engine::make_questions_usage_by_activity('core_question_preview', $context);
    $usage->set_preferred_behaviour('deferredfeedback');
    $slot = $usage->add_question($question, 1);
    $usage->start_question($slot, 1);
    $attempt = $usage->get_question_attempt($slot);
    $usage->process_action($slot, posted($question, $response));
    $usage->finish_question($slot);
    return ['fraction' => (float) $attempt->get_fraction(), 'feedback' => feedback($question, $response)];
}

function posted($question, $response) {
    if ($question->get_type_name() !== 'ordering') {
        return $question->prepare_simulated_post_data($response);
    }
    $keys = array_column(array_values($question->answers), 'md5key', 'answer');
    $order = implode(',', array_map(fn($text) => $keys[$text], $response));
    return ['response_' . $question->id => $order];
}

function feedback($question, $response) {
    if ($question->get_type_name() !== 'numerical') {
        return null;
    }
    [$value, , $factor] = $question->ap->apply_units($response['answer'], $response['unit'] ?? null);
    $answer = $question->get_matching_answer($value, $factor);
    return $answer === null ? null : $answer->feedback;
}

[$ids, $context] = import_file($name, $file);
$responses = json_decode(file_get_contents($typed), true);
$found = [];
foreach ($ids as $id) {
    $data = question_bank::load_question_data($id);
    $row = told($data);
    $row['category'] = $DB->get_field('question_categories', 'name', ['id' => $data->category]);
    $row['tags'] = array_values(core_tag_tag::get_item_tags_array('core_question', 'question', $id));
    $question = question_bank::load_question($id);
    $row['marks'] = array_map(fn($one) => marked($question, $context, $one),
        $responses[$row['id']] ?? []);
    $found[] = $row;
}
echo json_encode($found, JSON_UNESCAPED_UNICODE | JSON_PRETTY_PRINT | JSON_THROW_ON_ERROR);
