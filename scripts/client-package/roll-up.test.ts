// The roll-up of small declarations: the result compiles on its own, and undocumented public names are
// reported.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openProgram } from './program.ts'
import { makeReference } from './reference.ts'
import { type RolledUp, rollUp } from './roll-up.ts'

const files = {
  'core.d.ts': `
import * as v from 'valibot';
import { Hidden } from './hidden.ts';
import type { Table } from './hidden.ts';
/** A note. */
export declare const Note: v.ObjectSchema<{
    readonly id: v.SchemaWithPipe<readonly [v.StringSchema<undefined>, v.BrandAction<string, 'NoteId'>]>;
    /** Who wrote it. */
    readonly by: v.ExactOptionalSchema<v.StringSchema<undefined>, undefined>;
}, undefined>;
/** See {@link Note}. */
export type Note = Readonly<v.InferOutput<typeof Note>>;
/** How a note stands. */
export type State = 'open' | 'done';
declare const Change: v.ObjectSchema<{ readonly note: typeof Note; readonly state: v.PicklistSchema<['open', 'done'], undefined> }, undefined>;
/** A change of a note. */
export type Change = v.InferOutput<typeof Change>;
/** Keeps notes. */
export declare class Notes extends Hidden {
    #private;
    private secrets;
    /** The latest. @throws where there is none */
    latest(): Promise<Table['note']>;
    /** Adds a note. */
    add(note: Note): Promise<Note>;
    /** How many there are in a state. */
    count(state?: State): number;
    bare(): void;
}
/** Links to {@link Nothing}. */
export declare function link(): void;
export interface Undocumented {
    readonly x: number;
}
`,
  'hidden.d.ts': `
import type { Note, Notes } from './core.ts';
/** Not exported. */
export declare class Hidden {
    protected secret: number;
    /** From a base nobody sees. */
    inherited(): void;
}
type Promised<T> = {
    readonly [K in keyof T]: T[K] extends (...args: infer A) => infer R ? (...args: A) => Promise<Awaited<R>> : never;
};
export declare const PromisedNotes: abstract new () => Promised<Pick<Notes, 'add' | 'count'>>;
export interface Table {
    /** A note. */
    readonly note: Note;
}
`,
  'other.d.ts': `
import type { Note, State } from './core.ts';
import { PromisedNotes } from './hidden.ts';
export { link } from './core.ts';
/** Notes that are elsewhere. */
export declare class FarNotes extends PromisedNotes {
    private constructor();
}
/** Takes a note. */
export declare function take(note: Note, state: State): void;
`,
}

let folder: string
let core: RolledUp
let other: RolledUp

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'sotto-roll-up-')))
  for (const [name, text] of Object.entries(files)) await Bun.write(join(folder, name), text)
  const paths = [join(folder, 'core.d.ts'), join(folder, 'other.d.ts')]
  const program = await openProgram(paths, folder)
  core = await rollUp(program, 'core', join(folder, 'core.d.ts'), folder)
  other = await rollUp(program, 'other', join(folder, 'other.d.ts'), folder, core)
  await program.close()
}, 120_000)
afterAll(() => rm(folder, { recursive: true }))

test('a schema becomes its type, with comments and without brands', () => {
  expect(core.text).toContain(`/** A note. */
export interface Note {
  readonly id: string;
  /** Who wrote it. */
  readonly by?: string;
}`)
})

test('a type inside another type keeps its name', () => {
  expect(core.text).toContain(`export interface Change {
  note: Note;
  state: State;
}`)
})

test('a class shows the members of a hidden base class, and nothing private', () => {
  expect(core.text).toContain(`export declare class Notes {
  #private;
  /** The latest. @throws where there is none */
  latest(): Promise<Note>;
  /** Adds a note. */
  add(note: Note): Promise<Note>;
  /** How many there are in a state. */
  count(state?: State): number;
  bare(): void;
  /** From a base nobody sees. */
  inherited(): void;
}`)
})

test('a class shows the methods of another class, with promises as results if its hidden base adds them', () => {
  expect(other.text).toContain(`export declare class FarNotes {
  private constructor();
  /** See \`Notes.add\`. */
  add(note: Note): Promise<Note>;
  /** See \`Notes.count\`. */
  count(state?: State): Promise<number>;
}`)
})

test('public names without documentation are reported, and so are dead links', () => {
  expect([...core.undocumented].sort()).toEqual(['Notes.bare', 'Undocumented', '{@link Nothing}'])
  expect(other.undocumented).toEqual([])
})

test('another entry imports shared types from the core', () => {
  expect(other.text).toStartWith(`import type { Note, State } from './core.js';

export { link } from './core.js';
`)
  expect(other.text).not.toContain('interface Note')
})

test('the reference contains every name once, and replaces links and tags by words', async () => {
  const [page] = await makeReference(
    [core, other],
    new Map([
      ['core', 'notes'],
      ['other', 'notes/other'],
    ]),
  )
  expect(page?.text.match(/^### .*$/gm)).toEqual([
    '### Notes',
    '### link',
    '### Change',
    '### Note',
    '### State',
    '### Undocumented',
  ])
  expect(page?.text).toContain('The latest.\n\nThrows where there is none')
  expect(page?.text).not.toContain('{@link')
})
