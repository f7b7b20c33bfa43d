// The bus of a relay that is one process: a ring is a call.
import type { Bus } from './bus.ts'

export function createInProcessBus(): Bus {
  const listeners: Parameters<Bus['listen']>[0][] = []
  const topicListeners: Parameters<Bus['listenToTopics']>[0][] = []
  return {
    ring: (account, ring) => {
      for (const hear of listeners) hear(account, ring)
    },
    listen: (hear) => {
      listeners.push(hear)
    },
    publish: (topic, frame) => {
      for (const hear of topicListeners) hear(topic, frame)
    },
    listenToTopics: (hear) => {
      topicListeners.push(hear)
    },
  }
}
