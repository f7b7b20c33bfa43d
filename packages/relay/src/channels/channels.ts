// Channels as the rest of the relay knows them: their endpoints, who hears of posts, and what goes with an account.
import type { Log } from '../operations/log.ts'
import { type ChannelParts, channelRoutes } from './routes.ts'
import { SubscribedConnections } from './subscriptions.ts'

export { eraseChannels } from './catalog.ts'
export { channelGoods, seatGoods } from './trade.ts'

/** Puts channels together. */
export function createChannels(parts: ChannelParts & { readonly log: Log }) {
  return { routes: channelRoutes(parts), follower: new SubscribedConnections(parts) }
}
