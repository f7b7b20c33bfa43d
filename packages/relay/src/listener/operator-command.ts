// Operator commands: each checks its input and returns an answer that can be written as JSON.
import * as v from 'valibot'

/** The command cannot be carried out. The message tells the operator why. */
export class OperatorRefusal extends Error {
  override readonly name = 'OperatorRefusal'
}

/** A command. Its input came over the socket; its answer can be written as JSON. */
export type OperatorCommand = (input: unknown) => Promise<unknown>

/** How many rows a list has. */
export const listLimit = v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1000)), 50)

/** Creates a command that checks its input. @throws OperatorRefusal if the input does not match the schema */
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
