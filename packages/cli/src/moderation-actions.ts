// The actions of sotto accounts, channels and ids: each is one of the operator's commands.
import type { OperatorAnswer, OperatorCommandName } from '@sotto/relay'
import type { Command, Flags } from './command.ts'
import {
  at,
  changeFlags,
  commonFlags,
  print,
  reasonIfGiven,
  reasonOf,
  tell,
  whoOf,
} from './moderation-flags.ts'

type Action = Omit<Command, 'summary' | 'help'>

interface ActionOf<Name extends OperatorCommandName> {
  /** The operator's command. The action has the name after its dot. */
  readonly command: Name
  /** What the answer is as text. */
  readonly said: (answer: OperatorAnswer<Name>) => string
}

interface ActionOnOne<Name extends OperatorCommandName> extends ActionOf<Name> {
  /** The words after the action, and the fields of the command's input that they are. */
  readonly words: Readonly<Record<string, string>>
}

/** An action that lists what fits a text. */
export function findAction<Name extends OperatorCommandName>({
  state,
  ...action
}: ActionOf<Name> & {
  /** A flag that leaves only what is in this state. */
  readonly state: string
}): Action {
  return {
    name: nameOf(action.command),
    optionalWords: ['TEXT'],
    options: { ...commonFlags, [state]: { type: 'boolean' } },
    run: (flags, [text]) =>
      tellAndPrint(flags, action, { ...(text ? { text } : {}), [state]: flags[state] === true }),
  }
}

/** An action that shows one thing. */
export function showAction<Name extends OperatorCommandName>(action: ActionOnOne<Name>): Action {
  return {
    name: nameOf(action.command),
    words: Object.keys(action.words),
    options: commonFlags,
    run: (flags, given) => tellAndPrint(flags, action, inputOf(action.words, given)),
  }
}

/** An action that changes one thing. The relay records who did it and why. */
export function changeAction<Name extends OperatorCommandName>({
  needsReason = false,
  options = {},
  more = () => ({}),
  ...action
}: ActionOnOne<Name> & {
  readonly needsReason?: boolean
  /** Flags of this action alone, and what of the command's input they are. */
  readonly options?: Command['options']
  readonly more?: (flags: Flags) => object
}): Action {
  return {
    name: nameOf(action.command),
    words: Object.keys(action.words),
    options: { ...changeFlags, ...options },
    run: (flags, given) => {
      const why = needsReason ? reasonOf(flags) : reasonIfGiven(flags)
      const input = { ...inputOf(action.words, given), ...whoOf(flags), ...why, ...more(flags) }
      return tellAndPrint(flags, action, input)
    },
  }
}

/** Says a list as lines. */
export function linesOr<Line>(
  none: string,
  lineOf: (line: Line) => string,
): (list: readonly Line[]) => string {
  return (list) => (list.length === 0 ? none : list.map(lineOf).join('\n'))
}

async function tellAndPrint<Name extends OperatorCommandName>(
  flags: Flags,
  { command, said }: ActionOf<Name>,
  input: object,
): Promise<number> {
  const answer = await tell((relay) => relay.tellRelay(at(flags), command, input))
  return print(flags, answer, said(answer))
}

function inputOf(
  words: Readonly<Record<string, string>>,
  given: readonly string[],
): Record<string, string | undefined> {
  return Object.fromEntries(Object.values(words).map((field, index) => [field, given[index]]))
}

function nameOf(command: string): string {
  return command.slice(command.indexOf('.') + 1)
}
