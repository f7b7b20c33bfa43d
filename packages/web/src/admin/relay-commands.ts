// Asks the relay to carry out the operator's commands, and keeps the session of this tab.
import { signal } from '@preact/signals'
import type { Answers } from './answers.ts'

/**
 * Where the secret of the session is: for this tab and this port alone, and over a reload. A cookie would go
 * to every port of the machine.
 */
const KEPT_AT = 'sotto-admin-session'

/** Whether this tab has a session. `unknown` until the relay has answered. */
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
    const begun = await post('session', { secret })
    sessionStorage.setItem(KEPT_AT, begun.session)
    session.value = 'open'
    return true
  } catch (error) {
    if (error instanceof AdminError && error.status === 401) return false
    throw error
  }
}

export async function endSession(): Promise<void> {
  await post('session/end', {})
  forget()
}

function forget(): void {
  sessionStorage.removeItem(KEPT_AT)
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
    if (error instanceof AdminError && error.status === 401) forget()
    throw error
  }
}

async function post(path: string, body: object) {
  const kept = sessionStorage.getItem(KEPT_AT)
  const response = await fetch(path, {
    method: 'POST',
    headers: kept === null ? {} : { authorization: `Bearer ${kept}` },
    body: JSON.stringify(body),
  }).catch(() => undefined)
  if (!response) throw new AdminError(0, '')
  const reply = await response.json().catch(() => undefined)
  if (!response.ok || typeof reply !== 'object')
    throw new AdminError(response.status, String(reply?.error ?? response.statusText))
  return reply
}
