// The effect of keys on the line being typed.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { graphemes } from '../sanitize.ts'
import { type KeyOutcome, LineEditor, MAX_LINE_BYTES } from './line-editor.ts'

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

test('wherever code points are inserted, the line consists of whole characters', () => {
  const parts = ['a', ' ', '\u0301', '\u200d', '👩', '👧', '🏽', '🇩', '🇪', 'क', '्', '한', '\ufe0f']
  const step = fc.record({ text: fc.constantFrom(...parts), left: fc.nat({ max: 3 }) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const editor = new LineEditor()
      for (const { text, left } of steps) {
        press(editor, '<'.repeat(left))
        editor.press({ text, name: '', ctrl: false, meta: false })
      }
      const characters = graphemes(editor.text)
      press(editor, '⇲')
      // Each Backspace removes one character of the line.
      while (editor.text !== '') {
        expect(editor.text).toBe(characters.join(''))
        press(editor, '⌫')
        characters.pop()
      }
      expect(characters).toEqual([])
    }),
    { numRuns: 300 },
  )
})

test('a line has a maximum length', () => {
  const editor = new LineEditor()
  const key = (name: string, text = '') => editor.press({ text, name, ctrl: false, meta: false })
  key('', 'é'.repeat(MAX_LINE_BYTES / 2 - 1))
  press(editor, 'ab')
  expect(press(editor, 'c')).toEqual({ kind: 'full', bytes: MAX_LINE_BYTES + 1 })
  press(editor, '⌫⌫')
  key('paste-start')
  press(editor, 'abc')
  expect(key('paste-end')).toEqual({ kind: 'full', bytes: MAX_LINE_BYTES + 1 })
  expect(editor.text.length).toBe(MAX_LINE_BYTES / 2 - 1)
  control(editor, 'u')
  key('paste-start')
  press(editor, 'abc')
  expect(key('paste-end')).toEqual({ kind: 'changed' })
})

test('in a paste, keys are text, a return and a line feed are one line break, and Ctrl-C interrupts', () => {
  const editor = new LineEditor()
  const key = (name: string, text = '') => editor.press({ text, name, ctrl: false, meta: false })
  key('paste-start')
  press(editor, 'a')
  key('return')
  key('enter')
  key('enter')
  key('tab', '\t')
  control(editor, 'u')
  key('escape', '\u001b')
  press(editor, 'b')
  expect(editor.text).toBe('')
  expect(control(editor, 'c')).toEqual({ kind: 'interrupt' })
  key('paste-end')
  expect(editor.text).toBe('a\n\n\tb')
  expect(editor.view(20).text).toBe('a⏎⏎⇥b')
})

test('Tab asks for completion, and the text before the cursor is replaced', () => {
  const editor = new LineEditor()
  press(editor, '/he and more')
  press(editor, '<'.repeat(9))
  expect(editor.press({ text: '\t', name: 'tab', ctrl: false, meta: false })).toEqual({ kind: 'complete' })
  expect(editor.textBeforeCursor).toBe('/he')
  editor.replaceBeforeCursor('/help')
  expect(editor.text).toBe('/help and more')
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
