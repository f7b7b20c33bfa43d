// A command an operator gives a relay: its input checked, its answer plain JSON.
import * as v from 'valibot'

/** What an operator asked for cannot be done; the message says why, in words for a terminal. */
export class OperatorRefusal extends Error {
  override readonly name = 'OperatorRefusal'
}

/** A command: takes what came over the door, answers what can be written as JSON. */
export type OperatorCommand = (input: unknown) => Promise<unknown>

/** A command whose input is checked. @throws OperatorRefusal where the input breaks its rules */
export function operatorCommand<Input>(
  schema: v.GenericSchema<unknown, Input>,
  run: (input: Input) => Promise<unknown>,
): OperatorCommand {
  return async (given) => {
    const { success, issues, output } = v.safeParse(schema, given)
    if (success) return await run(output)
    const [issue] = issues
    throw new OperatorRefusal(`${v.getDotPath(issue) ?? 'the input'}: ${issue.message}`)
  }
}
