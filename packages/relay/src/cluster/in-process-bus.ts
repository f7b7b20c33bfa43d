// The bus of a relay that runs in one process: a ring is a function call.
import type { Bus } from './bus.ts'

/** The bus inside one process. */
export interface InProcessBus extends Bus {
  /** Rings an account for another node. */
  ringFromOther: Bus['ring']
  /** Tells the listeners that notifications may have been lost. */
  lost(): void
}

export function createInProcessBus(): InProcessBus {
  const listeners: Parameters<Bus['listen']>[0][] = []
  const topicListeners: Parameters<Bus['listenToTopics']>[0][] = []
  const keyListeners: (() => void)[] = []
  const lossListeners: (() => void)[] = []
  return {
    ring: (account, ring) => {
      for (const listener of listeners) listener(account, ring, true)
    },
    ringFromOther: (account, ring) => {
      for (const listener of listeners) listener(account, ring, false)
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
    node: '',
    isShared: false,
    hears: (node) => node === '',
    state: { isHeard: true, nodes: 1, sent: 0, received: 0, gaps: 0, looks: 0 },
    lost: () => {
      for (const listener of lossListeners) listener()
    },
    listenToLoss: (listener) => {
      lossListeners.push(listener)
    },
    letOthersLook: () => {},
    stop: async () => {},
  }
}
