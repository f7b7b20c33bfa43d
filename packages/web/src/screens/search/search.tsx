// Search in the messages on this device: in all conversations, or in one.
import { useSignal } from '@preact/signals'
import type { SearchPage } from '@sotto/client'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { Button, IconButton } from '../../parts/button.tsx'
import { Screen } from '../../parts/screen.tsx'
import { Empty, Loading } from '../../parts/state.tsx'
import { now } from '../../session/clock.ts'
import type { ShownConversation } from '../../session/contact-names.ts'
import { notifyError } from '../../session/notices.ts'
import { go, href, route } from '../../session/route.ts'
import { useSession } from '../../session/use-session.ts'
import { explain } from '../../texts/explain.ts'
import { searchTexts } from '../../texts/search.ts'
import { texts } from '../../texts/texts.ts'
import { SearchResults } from './results.tsx'
import { searchAddress } from './search-address.ts'
import './search.css'

/** A search begins when nothing was typed for this long. */
const TYPING_MS = 150
const PAGE = 30
/** The most characters that can be typed: they must fit into an address. */
const MAX_CHARACTERS = 200

type Found = Pick<SearchPage, 'results' | 'next'>

export function Search() {
  const session = useSession()
  const { path, query } = route.value
  const words = query.q ?? ''
  const inOne = query.in
  const t = searchTexts.value
  const field = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const found = useSignal<Found | undefined>(undefined)
  const failure = useSignal<unknown>(undefined)
  const all = session.conversations.value ?? []
  const searched = all.find(({ conversationId }) => conversationId === inOne)

  useLayoutEffect(() => {
    field.current?.focus()
    return () => clearTimeout(timer.current)
  }, [])
  useEffect(() => {
    failure.value = undefined
    found.value = undefined
    if (words.trim() === '') return
    let isCurrent = true
    const options = { limit: PAGE, ...(inOne === undefined ? {} : { contact: inOne }) }
    const find = async (): Promise<void> => {
      try {
        const page = await (await session.later()).search.find(words, options)
        if (isCurrent) found.value = page
      } catch (error) {
        if (isCurrent) failure.value = error
      }
    }
    void find()
    return () => {
      isCurrent = false
    }
  }, [words, inOne])

  const more = async (): Promise<void> => {
    const before = found.value
    try {
      const contact = inOne === undefined ? {} : { contact: inOne }
      const { search } = await session.later()
      const page = await search.find(words, { limit: PAGE, before: before?.next, ...contact })
      if (before && found.value === before)
        found.value = { ...page, results: [...before.results, ...page.results] }
    } catch (error) {
      notifyError(error)
    }
  }
  const search = (typed: string): void => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => go(searchAddress({ words: typed, inOne }), { replace: true }), TYPING_MS)
  }
  const clear = (): void => {
    if (field.current) field.current.value = ''
    field.current?.focus()
    go(searchAddress({ words: '', inOne }), { replace: true })
  }
  return (
    <Screen
      title={t.title}
      back={searched ? href('chats', searched.conversationId) : href('chats')}
      top={
        <search class="search-top">
          <div class="search-words">
            <input
              ref={field}
              type="text"
              inputMode="search"
              enterkeyhint="search"
              class="field-input"
              aria-label={t.field}
              placeholder={t.field}
              dir={words === '' ? undefined : 'auto'}
              maxLength={MAX_CHARACTERS}
              autocomplete="off"
              defaultValue={words}
              onInput={({ currentTarget }) => search(currentTarget.value)}
            />
            {words !== '' && <IconButton icon="close" label={texts.value.common.clear} onClick={clear} />}
          </div>
          {searched && (
            <p class="search-scope small">
              <span>
                {t.only} <bdi>{searched.name ?? searched.nickname}</bdi>
              </span>
              <a class="link" href={searchAddress({ words })}>
                {t.everywhere}
              </a>
            </p>
          )}
        </search>
      }
    >
      {words.trim() === '' ? (
        <Empty icon="search" title={t.begin}>
          {t.beginHint}
        </Empty>
      ) : failure.value ? (
        <Empty
          icon="warning"
          title={explain(failure.value)}
          action={
            <Button onClick={() => go(searchAddress({ words: `${words} `, inOne }), { replace: true })}>
              {texts.value.common.tryAgain}
            </Button>
          }
        />
      ) : !found.value ? (
        <Loading />
      ) : (
        <SearchResults
          people={inOne === undefined ? named(all, words) : []}
          results={found.value.results}
          conversations={all}
          wanted={{ words, inOne }}
          current={path[1] === undefined ? undefined : `${path[1]} ${query.at}`}
          nowMs={now.value}
          onMore={found.value.next ? more : undefined}
        />
      )}
    </Screen>
  )
}

/** The conversations with people of this name. */
function named(all: readonly ShownConversation[], words: string): readonly ShownConversation[] {
  const wanted = words.trim().toLocaleLowerCase()
  return all.filter(({ name = '', nickname, profile }) =>
    [name, nickname, profile?.nickname ?? ''].join('\n').toLocaleLowerCase().includes(wanted),
  )
}
