// Reads something from the relay for a screen: again when the connection is back after a failure.
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { useSession } from './use-session.ts'

/** What was read. */
export interface Loaded<T> {
  /** Undefined until it is read. Stays while it is read again. */
  readonly value: T | undefined
  /** Why the latest attempt failed. */
  readonly error: unknown
  /** Reads it again. */
  readonly reload: () => Promise<void>
}

/** Reads something now, and again whenever one of `inputs` has changed. The latest request alone counts. */
export function useLoaded<T>(load: () => Promise<T>, inputs: readonly unknown[]): Loaded<T> {
  const { network } = useSession()
  const value = useSignal<T | undefined>(undefined)
  const error = useSignal<unknown>(undefined)
  const latest = useRef(0)
  const reload = async (): Promise<void> => {
    latest.current += 1
    const number = latest.current
    try {
      const loaded = await load()
      if (number !== latest.current) return
      value.value = loaded
      error.value = undefined
    } catch (thrown) {
      if (number === latest.current) error.value = thrown
    }
  }
  useEffect(() => {
    void reload()
    return () => {
      latest.current += 1
    }
  }, inputs)
  const isConnected = network.value === 'connected'
  useEffect(() => {
    if (isConnected && error.value !== undefined) void reload()
  }, [isConnected])
  return { value: value.value, error: error.value, reload }
}
