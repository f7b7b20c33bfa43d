// What a search has found: people of this name, and messages with the words marked.
import type { Conversation, SearchResult } from '@sotto/client'
import { Avatar } from '../../parts/avatar.tsx'
import { Button } from '../../parts/button.tsx'
import { Row } from '../../parts/row.tsx'
import { Empty } from '../../parts/state.tsx'
import { href } from '../../session/route.ts'
import { shortTime } from '../../texts/dates.ts'
import { texts } from '../../texts/texts.ts'
import { searchAddress } from './search-address.ts'
import { snippetOf } from './snippet.ts'

interface SearchResultsProps {
  readonly people: readonly Conversation[]
  readonly results: readonly SearchResult[]
  readonly conversations: readonly Conversation[]
  readonly wanted: { readonly words: string; readonly inOne: string | undefined }
  /** The open result: its conversation and number. */
  readonly current: string | undefined
  readonly nowMs: number
  /** Reads the next page, if there is one. */
  readonly onMore: (() => void) | undefined
}

export function SearchResults(props: SearchResultsProps) {
  const { people, results, conversations, wanted, current, nowMs, onMore } = props
  const t = texts.value
  if (people.length === 0 && results.length === 0)
    return (
      <Empty icon="search" title={t.search.nothing}>
        {t.search.nothingHint}
      </Empty>
    )
  return (
    <>
      <p class="spoken" role="status">
        {t.search.count(results.length)}
      </p>
      {people.length > 0 && <h2 class="search-heading">{t.search.people}</h2>}
      <ul>
        {people.map(({ conversationId, name, nickname }) => (
          <li key={conversationId}>
            <Row
              lead={<Avatar name={name ?? nickname} seed={conversationId} />}
              title={<bdi>{name ?? nickname}</bdi>}
              href={href('chats', conversationId)}
            />
          </li>
        ))}
      </ul>
      {results.length > 0 && <h2 class="search-heading">{t.search.messages}</h2>}
      <ul>
        {results.map(({ message, text, ranges }) => {
          const { conversationId, isMe, id, seq, time } = message
          const found = conversations.find((each) => each.conversationId === conversationId)
          const name = found?.name ?? found?.nickname ?? ''
          return (
            <li key={`${conversationId} ${isMe} ${id}`}>
              <Row
                lead={<Avatar name={name} seed={conversationId} />}
                title={<bdi>{name}</bdi>}
                detail={
                  <bdi>
                    {isMe && `${t.chats.you} `}
                    {snippetOf(text, ranges).map((piece, at) =>
                      piece.isFound ? <mark key={at}>{piece.text}</mark> : piece.text,
                    )}
                  </bdi>
                }
                end={<time class="small soft number">{shortTime(time, nowMs)}</time>}
                href={
                  seq === undefined
                    ? href('chats', conversationId)
                    : searchAddress(wanted, { conversationId, seq })
                }
                isCurrent={current === `${conversationId} ${seq}`}
              />
            </li>
          )
        })}
      </ul>
      {onMore && (
        <div class="search-more">
          <Button onClick={onMore}>{t.search.more}</Button>
        </div>
      )}
    </>
  )
}
