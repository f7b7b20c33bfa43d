// The words of notifications. The page stores them in a cache, in the language of the app, because a service
// worker cannot read the page's preferences.
import type { Pushed, PushNotice } from '@sotto/client/push-worker'

/** The words, by what was pushed. */
export type PushWords = Readonly<Record<Pushed['type'], string>>

const CACHE = 'sotto-words'
const ENTRY = 'push-words'
const ENGLISH: PushWords = { message: 'New messages', call: 'Somebody calls you' }

/** Stores the words for notifications. */
export async function storePushWords(words: PushWords): Promise<void> {
  const cache = await caches.open(CACHE)
  await cache.put(ENTRY, new Response(JSON.stringify(words)))
}

/** The notification for a push. It never says more than that something has come. */
export async function pushWords({ type }: Pushed): Promise<PushNotice> {
  const words = await storedWords()
  return { title: words[type], icon: 'icons/sotto-192.png', badge: 'icons/badge.png' }
}

async function storedWords(): Promise<PushWords> {
  const entry = await caches.match(ENTRY, { cacheName: CACHE })
  const words: unknown = await entry?.json()
  return isWords(words) ? words : ENGLISH
}

function isWords(words: unknown): words is PushWords {
  return (
    typeof words === 'object' &&
    words !== null &&
    'message' in words &&
    'call' in words &&
    typeof words.message === 'string' &&
    typeof words.call === 'string'
  )
}
