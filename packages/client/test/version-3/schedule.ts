// What a schedule of the model is: steps, one after the other, in a weather.

/** What a schedule may contain. */
export const WEATHERS = ['honest', 'losses', 'lies', 'all'] as const
export type Weather = (typeof WEATHERS)[number]

/**
 * One step of a schedule. `who` chooses a device, `how` a variant. The acts from `call` on are only in rich
 * schedules.
 */
export interface Action {
  readonly act:
    | 'write'
    | 'run'
    | 'serve'
    | 'handle'
    | 'connect'
    | 'cut'
    | 'crash'
    | 'tick'
    | 'wipe'
    | 'copy'
    | 'restore_copy'
    | 'second_device'
    | 'back_up'
    | 'restore_relay'
    | 'lie'
    | 'word'
    | 'jump'
    | 'call'
    | 'peer_speaks'
    | 'send_twice'
    | 'use_this_device'
    | 'allow_rejoins'
    | 'unavailable'
    | 'unanswered'
    | 'doubtful'
    | 'repeat'
    | 'write_many'
    | 'delete'
    | 'refuse'
    | 'withdraw'
    | 'month'
    | 'restore_silently'
    | 'lose_block'
    | 'any_lie'
  readonly who: number
  readonly how: number
}

export interface Schedule {
  readonly weather: Weather
  readonly actions: readonly Action[]
  /** Whether it has all acts, and small blocks of own messages. */
  readonly isRich: boolean
}
