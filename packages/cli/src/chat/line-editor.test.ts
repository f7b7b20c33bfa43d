// The effect of keys on the line being typed.
import { expect, test } from 'bun:test'
import { type KeyOutcome, LineEditor } from './line-editor.ts'

const NAMED = {
  '<': 'left',
  '>': 'right',
  '⌫': 'backspace',
  '⌦': 'delete',
  '⇱': 'home',
  '⇲': 'end',
  '↑': 'up',
  '↓': 'down',
  '⏎': 'return',
} as const

/** Presses a key for each character; the names above are keys without a character. */
function press(editor: LineEditor, keys: string): KeyOutcome {
  let outcome: KeyOutcome = { kind: 'none' }
  for (const key of keys) {
    const name = Object.entries(NAMED).find(([character]) => character === key)?.[1]
    outcome = editor.press({ text: name ? '' : key, name: name ?? key, ctrl: false, meta: false })
  }
  return outcome
}

function control(editor: LineEditor, name: string): KeyOutcome {
  return editor.press({ text: '', name, ctrl: true, meta: false })
}

test('keys insert, move and delete characters', () => {
  const editor = new LineEditor()
  press(editor, 'helo<l')
  expect(editor.text).toBe('hello')
  press(editor, '⇱⌦H⇲!⌫⌫')
  expect(editor.text).toBe('Hell')
  press(editor, '<<<<<<<⌫')
  expect(editor.text).toBe('Hell')
})

test('the cursor treats a character of several code points as one', () => {
  const editor = new LineEditor()
  editor.press({ text: '👩‍👩‍👧', name: '', ctrl: false, meta: false })
  press(editor, 'e')
  editor.press({ text: '\u0301', name: '', ctrl: false, meta: false })
  expect(editor.text).toBe('👩‍👩‍👧e\u0301')
  press(editor, '⌫')
  expect(editor.text).toBe('👩‍👩‍👧')
  press(editor, '⌫')
  expect(editor.text).toBe('')
})

test('Enter submits the line, and Up brings it back', () => {
  const editor = new LineEditor()
  expect(press(editor, 'one⏎')).toEqual({ kind: 'submit', line: 'one' })
  press(editor, 'two⏎dra')
  press(editor, '↑')
  expect(editor.text).toBe('two')
  press(editor, '↑↑')
  expect(editor.text).toBe('one')
  press(editor, '↓↓')
  expect(editor.text).toBe('dra')
  editor.forgetHistory()
  press(editor, '↑')
  expect(editor.text).toBe('dra')
})

test('the control keys of a shell work', () => {
  const editor = new LineEditor()
  press(editor, 'one two three')
  control(editor, 'w')
  expect(editor.text).toBe('one two ')
  control(editor, 'a')
  press(editor, 'X')
  expect(editor.text).toBe('Xone two ')
  control(editor, 'k')
  expect(editor.text).toBe('X')
  control(editor, 'u')
  expect(editor.text).toBe('')
  expect(control(editor, 'c')).toEqual({ kind: 'interrupt' })
  expect(control(editor, 'd')).toEqual({ kind: 'end' })
  press(editor, 'x')
  expect(control(editor, 'd').kind).toBe('none')
})

test('keys without a character change nothing', () => {
  const editor = new LineEditor()
  for (const [text, name] of [
    ['\u001bOP', 'f1'],
    ['\u001b', 'escape'],
    ['\t', 'tab'],
    ['', 'pageup'],
  ] as const) {
    expect(editor.press({ text, name, ctrl: false, meta: false })).toEqual({ kind: 'none' })
  }
  expect(editor.text).toBe('')
})

test('line breaks in pasted text do not submit the line', () => {
  const editor = new LineEditor()
  const key = (name: string) => editor.press({ text: '', name, ctrl: false, meta: false })
  key('paste-start')
  press(editor, 'a⏎b')
  key('paste-end')
  expect(press(editor, '⏎')).toEqual({ kind: 'submit', line: 'a\nb' })
})

test('the view always contains the cursor, for any width', () => {
  const editor = new LineEditor()
  press(editor, 'abcdefghij')
  expect(editor.view(5)).toEqual({ text: 'ghij', column: 4 })
  press(editor, '⇱')
  expect(editor.view(5)).toEqual({ text: 'abcde', column: 0 })
  press(editor, '⇲日本')
  expect(editor.view(6)).toEqual({ text: 'j日本', column: 5 })
})
