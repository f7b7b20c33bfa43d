// The messages that are selected. They stay selected when they are scrolled out of what is read.
import { type Signal, useSignal } from '@preact/signals'
import type { StoredMessage } from '@sotto/client'
import { useRef } from 'preact/hooks'
import { useEscape } from './escape.ts'
import { keyOf } from './grouping.ts'

interface Selection {
  /** The keys of what is selected; undefined while nothing is being selected. */
  readonly keys: Signal<ReadonlySet<string> | undefined>
  /** What is selected, in the order of the conversation. */
  readonly messages: readonly StoredMessage[]
  readonly begin: () => void
  readonly end: () => void
  readonly toggle: (message: StoredMessage) => void
}

/** @param list what is read of the conversation now */
export function useSelection(list: readonly StoredMessage[] | undefined): Selection {
  const keys = useSignal<ReadonlySet<string> | undefined>(undefined)
  const known = useRef(new Map<string, StoredMessage>())
  for (const message of list ?? []) if (keys.value?.has(keyOf(message))) remember(known.current, message)
  const end = (): void => {
    keys.value = undefined
    known.current.clear()
  }
  useEscape(keys.value !== undefined, end)
  return {
    keys,
    messages: [...known.current.values()].filter((each) => keys.value?.has(keyOf(each))).sort(inOrder),
    begin: () => (keys.value = new Set()),
    end,
    toggle: (message) => {
      const key = keyOf(message)
      const others = [...(keys.value ?? [])].filter((each) => each !== key)
      remember(known.current, message)
      keys.value = new Set(keys.value?.has(key) ? others : [...others, key])
    },
  }
}

function remember(known: Map<string, StoredMessage>, message: StoredMessage): void {
  known.set(keyOf(message), message)
}

/** Messages that the relay has not accepted come last. */
function inOrder(one: StoredMessage, other: StoredMessage): number {
  const last = Number.MAX_SAFE_INTEGER
  return (one.seq ?? last) - (other.seq ?? last) || one.time - other.time
}
