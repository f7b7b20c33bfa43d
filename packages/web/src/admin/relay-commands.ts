// Asks the relay to carry out the operator's commands, and keeps whether this browser may ask.
import { signal } from '@preact/signals'
import type { Answers } from './answers.ts'

/** Whether this browser has a session. `unknown` until the relay has answered. */
export const session = signal<'unknown' | 'open' | 'none'>('unknown')

/** The relay did not do what was asked. */
export class AdminError extends Error {
  override readonly name = 'AdminError'
  /** The status of its answer; 0 if it did not answer. */
  readonly status: number

  /** @param message what the relay says, in English */
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Begins a session with the secret of a link. @returns whether the link was still good */
export async function beginSession(secret: string): Promise<boolean> {
  try {
    await post('session', { secret })
    session.value = 'open'
    return true
  } catch (error) {
    if (error instanceof AdminError && error.status === 401) return false
    throw error
  }
}

export async function endSession(): Promise<void> {
  await post('session/end', {})
  session.value = 'none'
}

/** Asks for a command. @throws AdminError if the relay refuses it, fails, or does not answer */
export async function ask<Name extends keyof Answers>(
  command: Name,
  input: Readonly<Record<string, unknown>> = {},
): Promise<Answers[Name]> {
  try {
    const { answer } = await post(`commands/${command}`, input)
    session.value = 'open'
    return answer
  } catch (error) {
    if (error instanceof AdminError && error.status === 401) session.value = 'none'
    throw error
  }
}

async function post(path: string, body: object) {
  const response = await fetch(path, { method: 'POST', body: JSON.stringify(body) }).catch(() => undefined)
  if (!response) throw new AdminError(0, '')
  const reply = await response.json().catch(() => undefined)
  if (!response.ok || typeof reply !== 'object')
    throw new AdminError(response.status, String(reply?.error ?? response.statusText))
  return reply
}
