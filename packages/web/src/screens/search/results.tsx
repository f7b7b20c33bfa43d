// What a search has found: people of this name, and messages with the words marked.
import type { Conversation, SearchResult } from '@sotto/client'
import { Avatar } from '../../parts/avatar.tsx'
import { Button } from '../../parts/button.tsx'
import { LongList } from '../../parts/long-list.tsx'
import { Row } from '../../parts/row.tsx'
import { Empty } from '../../parts/state.tsx'
import { href } from '../../session/route.ts'
import { shortTime } from '../../texts/dates.ts'
import { searchTexts } from '../../texts/search.ts'
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
      <Empty icon="search" title={searchTexts.value.nothing}>
        {searchTexts.value.nothingHint}
      </Empty>
    )
  return (
    <>
      <p class="spoken" role="status">
        {searchTexts.value.count(results.length)}
      </p>
      {people.length > 0 && <h2 class="search-heading">{searchTexts.value.people}</h2>}
      <LongList items={people} keyOf={({ conversationId }) => conversationId}>
        {({ conversationId, name, nickname }) => (
          <Row
            lead={<Avatar name={name ?? nickname} seed={conversationId} />}
            title={<bdi>{name ?? nickname}</bdi>}
            href={href('chats', conversationId)}
          />
        )}
      </LongList>
      {results.length > 0 && <h2 class="search-heading">{searchTexts.value.messages}</h2>}
      <LongList items={results} keyOf={keyOf}>
        {({ message, text, ranges }) => {
          const { conversationId, isMe, seq, time } = message
          const found = conversations.find((each) => each.conversationId === conversationId)
          const name = found?.name ?? found?.nickname ?? ''
          return (
            <Row
              lead={<Avatar name={name} seed={conversationId} />}
              title={<bdi>{name}</bdi>}
              before={isMe && t.chats.you}
              detail={
                <bdi>
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
          )
        }}
      </LongList>
      {onMore && (
        <div class="search-more">
          <Button onClick={onMore}>{searchTexts.value.more}</Button>
        </div>
      )}
    </>
  )
}

function keyOf({ message: { conversationId, isMe, id } }: SearchResult): string {
  return `${conversationId} ${isMe} ${id}`
}
