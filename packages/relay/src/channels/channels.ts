// Channels as the rest of the relay uses them: their endpoints, delivering posts to subscribers, and deleting
// an account's channels.
import type { Log } from '../operations/log.ts'
import { type ChannelParts, channelRoutes } from './routes.ts'
import { SubscribedConnections } from './subscriptions.ts'

export { endChannelSales, eraseChannels } from './erase-channels.ts'
export { channelGoods, seatGoods } from './trade.ts'

/** Builds channels. */
export function createChannels(parts: ChannelParts & { readonly log: Log }) {
  return { routes: channelRoutes(parts), follower: new SubscribedConnections(parts) }
}
