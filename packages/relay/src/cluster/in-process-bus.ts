// The bus of a relay that runs in one process: a ring is a function call.
import type { Bus } from './bus.ts'

export function createInProcessBus(): Bus {
  const listeners: Parameters<Bus['listen']>[0][] = []
  const topicListeners: Parameters<Bus['listenToTopics']>[0][] = []
  const keyListeners: (() => void)[] = []
  return {
    ring: (account, ring) => {
      for (const listener of listeners) listener(account, ring)
    },
    listen: (listener) => {
      listeners.push(listener)
    },
    keysChanged: () => {
      for (const listener of keyListeners) listener()
    },
    listenToKeys: (listener) => {
      keyListeners.push(listener)
    },
    publish: (topic, frame) => {
      for (const listener of topicListeners) listener(topic, frame)
    },
    listenToTopics: (listener) => {
      topicListeners.push(listener)
    },
  }
}
