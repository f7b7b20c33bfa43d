// Reads the answer to a command for a page, again and again while the page is looked at.
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Answers } from './answers.ts'
import { ask } from './relay-commands.ts'

/** What was read. */
export interface Read<T> {
  /** Undefined until it is read. Stays while it is read again. */
  readonly value: T | undefined
  /** Why the latest attempt failed. */
  readonly error: unknown
  readonly reload: () => Promise<void>
}

/** @param everyMs how long to wait before it is read again; 0 for never */
export function useAnswer<Name extends keyof Answers>(
  command: Name,
  { input = {}, everyMs = 0 }: { input?: Readonly<Record<string, unknown>>; everyMs?: number } = {},
): Read<Answers[Name]> {
  const [state, setState] = useState<Omit<Read<Answers[Name]>, 'reload'>>({
    value: undefined,
    error: undefined,
  })
  const latest = useRef(0)
  const key = JSON.stringify(input)
  const reload = async (): Promise<void> => {
    latest.current += 1
    const number = latest.current
    try {
      const value = await ask(command, input)
      if (number === latest.current) setState({ value, error: undefined })
    } catch (error) {
      if (number === latest.current) setState(({ value }) => ({ value, error }))
    }
  }
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const read = async (): Promise<void> => {
      if (!document.hidden) await reload()
      if (everyMs > 0 && timer !== undefined) timer = setTimeout(read, everyMs)
    }
    timer = setTimeout(read, 0)
    return () => {
      clearTimeout(timer)
      timer = undefined
      latest.current += 1
    }
  }, [command, key, everyMs])
  return { ...state, reload }
}
