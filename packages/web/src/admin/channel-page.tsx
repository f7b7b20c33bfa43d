// One channel with its newest posts, and what the operator can do to it.
import { Button } from '../parts/button.tsx'
import { goFromHere, href } from '../session/route.ts'
import { adminModerationTexts } from '../texts/admin-moderation.ts'
import { dateAndTime, fullTime, numberOf, sizeOf } from '../texts/dates.ts'
import type { ChannelDetail } from './answers.ts'
import type { Deed } from './deed-dialog.tsx'
import { Fact } from './fact.tsx'
import { ItemPage } from './item-page.tsx'
import { postRemoval } from './post-removal.ts'
import { ask } from './relay-commands.ts'
import { useAnswer } from './use-answer.ts'

export function ChannelPage({ id }: { readonly id: string }) {
  const t = adminModerationTexts.value.channels
  const read = useAnswer('channels.show', { input: { channel_id: id } })
  const deeds = useAnswer('deeds.list', { input: { object: id, limit: 100 } })
  return (
    <ItemPage list="channels" id={id} read={read} deeds={{ title: t.deeds, read: deeds }}>
      {(channel, begin) => <Channel channel={channel} onDeed={begin} />}
    </ItemPage>
  )
}

interface ChannelProps {
  readonly channel: ChannelDetail
  readonly onDeed: (deed: Deed) => void
}

function Channel({ channel, onDeed }: ChannelProps) {
  const t = adminModerationTexts.value.channels
  return (
    <>
      {channel.closed_for !== null && (
        <p class="banner" data-kind="danger">
          <span>
            {t.closedBecause} <bdi>{channel.closed_for}</bdi>
          </span>
        </p>
      )}
      <section class="card">
        <h2>
          <bdi>{channel.name}</bdi>
        </h2>
        {channel.description !== '' && <p dir="auto">{channel.description}</p>}
        <dl class="admin-figures">
          <Fact name={t.owner}>
            <a class="link code" href={href('accounts', channel.owner)}>
              {channel.owner}
            </a>
          </Fact>
          <Fact name={t.id}>
            <bdi class="code">{channel.channel_id}</bdi>
          </Fact>
          <Fact name={t.made}>{fullTime(Date.parse(channel.created_at))}</Fact>
          <Fact name={t.listed}>{channel.is_public ? t.isPublic : t.isHidden}</Fact>
          <Fact name={t.subscriberCount}>{numberOf(channel.subscribers)}</Fact>
          <Fact name={t.posts}>
            {numberOf(channel.posts)} · {sizeOf(channel.post_bytes)}
          </Fact>
        </dl>
        <Deeds channel={channel} onDeed={onDeed} />
      </section>
      <Posts channel={channel} onDeed={onDeed} />
    </>
  )
}

/** The buttons of what can be done to a channel. */
function Deeds({ channel: { channel_id, name, closed_for }, onDeed }: ChannelProps) {
  const t = adminModerationTexts.value.channels
  const close: Deed = {
    title: t.closeTitle(name),
    text: t.closeText,
    action: t.closeDo,
    isDangerous: true,
    run: (why) => ask('channels.close', { channel_id, why }),
  }
  const open: Deed = {
    title: t.openTitle(name),
    text: t.openText,
    action: t.openDo,
    run: (why) => ask('channels.open', { channel_id, why }),
  }
  const remove: Deed = {
    title: t.deleteTitle(name),
    text: t.deleteText,
    action: t.deleteDo,
    isDangerous: true,
    run: async (why) => {
      const go = goFromHere()
      await ask('channels.delete', { channel_id, why })
      go(href('channels'), { replace: true })
    },
  }
  return (
    <div class="item-end">
      {closed_for === null ? (
        <Button onClick={() => onDeed(close)}>{t.closeDo}</Button>
      ) : (
        <Button onClick={() => onDeed(open)}>{t.openDo}</Button>
      )}
      <Button kind="danger" onClick={() => onDeed(remove)}>
        {t.deleteDo}
      </Button>
    </div>
  )
}

function Posts({ channel: { channel_id, newest }, onDeed }: ChannelProps) {
  const t = adminModerationTexts.value.channels
  return (
    <section class="admin-section">
      <h2>{t.newest}</h2>
      {newest.length === 0 ? (
        <p class="soft">{t.noPosts}</p>
      ) : (
        <ul class="items">
          {newest.map(({ id, content, created_at }) => (
            <li key={id} class="item">
              <span class="item-main">
                <span class="admin-post" dir="auto">
                  {content}
                </span>
                <span class="soft small">{dateAndTime(Date.parse(created_at))}</span>
              </span>
              <span class="item-end">
                <Button onClick={() => onDeed(postRemoval(channel_id, id))}>{t.removeDo}</Button>
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
