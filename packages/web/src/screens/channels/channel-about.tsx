// What is known about a channel, and what its owner can change.
import { type ChannelInfo, Channels } from '@sotto/client'
import { Button } from '../../parts/button.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Screen } from '../../parts/screen.tsx'
import { Loading } from '../../parts/state.tsx'
import { copyText } from '../../session/clipboard.ts'
import { attempt, notify } from '../../session/notices.ts'
import { reporting } from '../../session/reporting.ts'
import { goFromHere, href } from '../../session/route.ts'
import { useLoaded } from '../../session/use-loaded.ts'
import { useSession } from '../../session/use-session.ts'
import { channelsTexts } from '../../texts/channels.ts'
import { texts } from '../../texts/texts.ts'
import { changes, channelsChanged } from './changed.ts'
import { DeleteChannel } from './delete-channel.tsx'
import { EditChannel } from './edit-channel.tsx'
import { SellChannel } from './sell-channel.tsx'

export function ChannelAbout({ id }: { readonly id: string }) {
  const { client } = useSession()
  const module = new Channels(client)
  const info = useLoaded(() => module.get(id), [id, changes.value])
  const t = channelsTexts.value
  const change = async (work: () => Promise<unknown>, done: string): Promise<void> => {
    if (!(await attempt(work))) return
    channelsChanged()
    notify(done)
  }
  const remove = async (): Promise<void> => {
    const go = goFromHere()
    await change(async () => {
      await module.delete(id)
      go(href('channels'))
    }, t.deleted)
  }
  const channel = info.value
  return (
    <Screen title={t.about} back={href('channels', id)}>
      {channel ? (
        <div class="column">
          <Facts channel={channel} />
          {channel.role === 'owner' && (
            <>
              <EditChannel
                key={`${channel.name} ${channel.description}`}
                channel={channel}
                onSave={(changed) => change(() => module.edit(id, changed), t.saved)}
              />
              <SellChannel
                channel={channel}
                onOffer={(price) => change(() => module.listForSale(id, price), t.offered)}
                onUnlist={() => change(() => module.unlist(id), t.unlisted)}
              />
              <DeleteChannel name={channel.name} onDelete={remove} />
            </>
          )}
        </div>
      ) : info.error === undefined ? (
        <Loading />
      ) : (
        <Failed error={info.error} onRetry={info.reload} />
      )}
    </Screen>
  )
}

function Facts({ channel: { id, name, description, role } }: { readonly channel: ChannelInfo }) {
  const t = channelsTexts.value
  const copy = async (): Promise<void> => {
    if (await attempt(() => copyText(id))) notify(texts.value.common.copied)
  }
  return (
    <div class="card">
      <h2 dir="auto">{name}</h2>
      {description && (
        <p class="channels-description" dir="auto">
          {description}
        </p>
      )}
      <p class="soft small">{t.publicText}</p>
      <p class="small">
        {t.id} <span class="code">{id}</span>
      </p>
      <div class="channels-buttons">
        <Button icon="copy" onClick={copy}>
          {t.copyId}
        </Button>
        {role !== 'owner' && (
          <Button icon="flag" onClick={() => (reporting.value = { kind: 'channel', name, channelId: id })}>
            {texts.value.common.report}
          </Button>
        )}
      </div>
    </div>
  )
}
