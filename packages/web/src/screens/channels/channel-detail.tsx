// What is open in channels: a new channel, a channel, or what is known about it.
import { route } from '../../session/route.ts'
import { Channel } from './channel.tsx'
import { ChannelAbout } from './channel-about.tsx'
import { NewChannel } from './new-channel.tsx'
import './channels.css'

export function ChannelDetail({ id }: { readonly id: string }) {
  const [, , page] = route.value.path
  if (id === 'new') return <NewChannel />
  return page === 'about' ? <ChannelAbout id={id} /> : <Channel id={id} />
}
