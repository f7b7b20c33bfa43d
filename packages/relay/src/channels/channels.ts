// Channels as the rest of the relay uses them: their endpoints, delivering posts to subscribers, and deleting
// an account's channels.
import type { Log } from '../operations/log.ts'
import { channelPurges } from './erase-channels.ts'
import { type ChannelParts, channelRoutes } from './routes.ts'
import { SubscribedConnections } from './subscriptions.ts'

export { channelPurges, endChannels, eraseChannels } from './erase-channels.ts'
export { deleteChannelOf, removePostOf, setClosed } from './moderated.ts'
export { channelGoods, seatGoods } from './trade.ts'

/** Builds channels. */
export function createChannels(parts: Omit<ChannelParts, 'purges'> & { readonly log: Log }) {
  const purges = channelPurges(parts)
  return { routes: channelRoutes({ ...parts, purges }), follower: new SubscribedConnections(parts), purges }
}
