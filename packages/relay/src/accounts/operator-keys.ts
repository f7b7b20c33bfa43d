// The operator's commands about the relay's keys, and their answers.
import * as v from 'valibot'
import { type OperatorCommand, operatorCommand } from '../listener/operator-command.ts'
import type { Log } from '../operations/log.ts'
import { type RelayKeyRings, ROTATED } from './relay-keys.ts'

const Purpose = v.picklist(ROTATED)

/** A key, without its secret. */
const KeyLine = v.object({
  purpose: Purpose,
  kid: v.string(),
  created_at: v.string(),
  /** Whether it signs, or only verifies what it signed before. */
  state: v.picklist(['signs', 'verifies']),
  /** The push subscriptions made with it; null if it is no VAPID key. */
  subscriptions: v.nullable(v.number()),
})
/** See {@link KeyLine}. */
export type KeyLine = v.InferOutput<typeof KeyLine>

/** The schema of each command's answer. */
export const keyAnswers = {
  'keys.list': v.array(KeyLine),
  'keys.rotate': v.array(KeyLine),
} as const

/** The commands, by name. */
export function keyCommands({
  keyRings,
  log,
}: {
  keyRings: RelayKeyRings
  log: Log
}): Readonly<Record<keyof typeof keyAnswers, OperatorCommand>> {
  const list = async (): Promise<KeyLine[]> =>
    (await keyRings.list()).map(({ purpose, kid, createdAt, signs, subscriptions }) => ({
      ...{ purpose, kid, created_at: new Date(createdAt).toISOString() },
      ...{ state: signs ? 'signs' : 'verifies', subscriptions },
    }))
  return {
    /** Lists every key that can be rotated. */
    'keys.list': operatorCommand(v.object({}), list),

    /** Makes a new key for a purpose. Answers the keys of that purpose. */
    'keys.rotate': operatorCommand(
      v.object({ purpose: Purpose, drop_old: v.optional(v.boolean(), false) }),
      async ({ purpose, drop_old }) => {
        await keyRings.rotate(purpose, { dropsOld: drop_old })
        log.info('key_rotated', { reason: drop_old ? `${purpose}, the old ones are dropped` : purpose })
        return (await list()).filter((key) => key.purpose === purpose)
      },
    ),
  }
}
