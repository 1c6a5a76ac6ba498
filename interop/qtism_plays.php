<?php
// Answers items: [[file, {response: value}], ...] on the input, what each came to on the output.

require $argv[1];

use qtism\common\datatypes\files\FileSystemFileManager;
use qtism\common\datatypes\QtiFloat;
use qtism\common\datatypes\QtiIdentifier;
use qtism\common\datatypes\QtiString;
use qtism\common\enums\BaseType;
use qtism\common\enums\Cardinality;
use qtism\data\storage\xml\XmlDocument;
use qtism\runtime\common\OrderedContainer;
use qtism\runtime\common\ResponseVariable;
use qtism\runtime\common\State;
use qtism\runtime\tests\AssessmentItemSession;
use qtism\runtime\tests\SessionManager;

error_reporting(E_ALL & ~E_DEPRECATED);

function loaded($path) {
    $document = new XmlDocument('2.1');
    $document->loadFromString(file_get_contents($path), true);  // true: by the schema
    return $document->getDocumentComponent();
}

function response($declared, $value) {
    $kind = $declared->getBaseType();
    if ($declared->getCardinality() === Cardinality::ORDERED) {
        $given = new OrderedContainer($kind, array_map(fn($key) => new QtiIdentifier($key), $value));
    } elseif ($kind === BaseType::FLOAT) {
        $given = new QtiFloat((float) $value);
    } elseif ($kind === BaseType::IDENTIFIER) {
        $given = new QtiIdentifier($value);
    } else {
        $given = new QtiString($value);
    }
    return new ResponseVariable($declared->getIdentifier(), $declared->getCardinality(), $kind, $given);
}

function told($item, $session) {
    $texts = [];
    foreach ($item->getModalFeedbacks() as $feedback) {
        $shown = $session[$feedback->getOutcomeIdentifier()];
        if ($shown !== null && $shown->getValue() === $feedback->getIdentifier()) {
            $texts[] = text($feedback);
        }
    }
    return $texts;
}

function text($component) {
    $text = method_exists($component, 'getContent') && is_string($component->getContent())
        ? $component->getContent() : '';
    foreach ($component->getComponents() as $inside) {
        $text .= text($inside);
    }
    return $text;
}

loaded($argv[2]);
$rows = [];
foreach (json_decode(stream_get_contents(STDIN), true) as [$path, $answers]) {
    $item = $items[$path] ??= loaded($path);
    $session = new AssessmentItemSession($item, new SessionManager(new FileSystemFileManager()));
    $session->beginItemSession();
    $session->beginAttempt();
    $responses = [];
    foreach ($item->getResponseDeclarations() as $declared) {
        if (isset($answers[$declared->getIdentifier()])) {
            $responses[] = response($declared, $answers[$declared->getIdentifier()]);
        }
    }
    $session->endAttempt(new State($responses));
    $rows[] = ['score' => $session['SCORE']->getValue(), 'told' => told($item, $session)];
}
echo json_encode($rows);
