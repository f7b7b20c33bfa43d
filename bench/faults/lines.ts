// The ways of the nodes to a server that they share: a proxy for each node, whose network can fail.
import { startTcpProxy, type TcpProxy } from '../../packages/relay/test/tcp-proxy.ts'
import type { Random } from './random.ts'

/** The way of one node. */
export interface Line {
  readonly proxy: TcpProxy
  /** The server's address through it. */
  readonly url: string
}

/** The ways of the nodes to the server at `url`. */
export function linesTo(url: string) {
  const proxies: TcpProxy[] = []
  return {
    add: async (): Promise<Line> => {
      const proxy = await startTcpProxy(Number(new URL(url).port))
      proxies.push(proxy)
      const through = new URL(url)
      through.port = String(proxy.port)
      return { proxy, url: through.href }
    },
    /** All ways lead to a server at another port from now on. */
    leadTo: (port: number): void => {
      for (const proxy of proxies) {
        proxy.leadTo(port)
        proxy.drop()
      }
    },
    stop: async (): Promise<void> => {
      for (const proxy of proxies) await proxy.stop()
    },
  }
}

/** Chooses how some ways fail, and what becomes of that which waits in them. */
export function breakdownOf(proxies: readonly TcpProxy[], random: Random) {
  const how = random.pick(['stall', 'stall', 'drop', 'refuse'] as const)
  return {
    how,
    begin: async (): Promise<void> => {
      for (const proxy of proxies) await proxy[how]()
    },
    end: async (): Promise<void> => {
      // What waited in a stalled network arrives late, or never.
      const isLost = random.chance(0.5)
      for (const proxy of proxies) {
        if (isLost) proxy.drop()
        await proxy.pass()
      }
    },
  }
}
