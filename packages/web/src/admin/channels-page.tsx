// Channels: found by name or id, as by `sotto channels`.
import { useState } from 'preact/hooks'
import { Switch } from '../parts/choice.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { Empty } from '../parts/state.tsx'
import { href, route } from '../session/route.ts'
import { adminModerationTexts } from '../texts/admin-moderation.ts'
import { dateAndTime, numberOf } from '../texts/dates.ts'
import { Answered } from './answered.tsx'
import { ChannelPage } from './channel-page.tsx'
import { useAnswer } from './use-answer.ts'
import './items.css'

const MOST = 200

export function ChannelsPage() {
  const [, id] = route.value.path
  return id === undefined ? <ChannelList /> : <ChannelPage key={id} id={id} />
}

function ChannelList() {
  const { channels: t, accounts } = adminModerationTexts.value
  const [text, seek] = useState('')
  const [closed, setClosed] = useState(false)
  const read = useAnswer('channels.find', { input: { text, closed, limit: MOST } })
  return (
    <>
      <SearchField label={t.search} onSearch={seek} maxLength={64} />
      <div class="admin-switch">
        <Switch label={t.closedOnly} isOn={closed} onChange={setClosed} />
      </div>
      <Answered read={read}>
        {(channels) =>
          channels.length === 0 ? (
            <Empty icon="channels" title={t.none} />
          ) : (
            <>
              <ul class="items">
                {channels.map((channel) => (
                  <li key={channel.channel_id}>
                    <a class="item" href={href('channels', channel.channel_id)}>
                      <span class="item-main">
                        <bdi>{channel.name}</bdi>
                        <span class="soft small">
                          {accounts.since(dateAndTime(Date.parse(channel.created_at)))} ·{' '}
                          <bdi class="code">{channel.owner}</bdi>
                        </span>
                      </span>
                      <span class="item-end">
                        <span class="number">{t.subscribers(numberOf(channel.subscribers))}</span>
                        {channel.closed_for !== null && (
                          <span class="mark" data-kind="danger">
                            {t.closed}
                          </span>
                        )}
                      </span>
                    </a>
                  </li>
                ))}
              </ul>
              {channels.length === MOST && <p class="soft">{accounts.more}</p>}
            </>
          )
        }
      </Answered>
    </>
  )
}
