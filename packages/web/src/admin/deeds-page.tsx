// What operators did to accounts and channels, as `sotto deeds` lists it.
import { Empty } from '../parts/state.tsx'
import { adminModerationTexts } from '../texts/admin-moderation.ts'
import { dateAndTime } from '../texts/dates.ts'
import { Answered } from './answered.tsx'
import type { DoneDeed } from './answers.ts'
import { useAnswer } from './use-answer.ts'
import './items.css'

const EVERY_MS = 10_000

export function DeedsPage() {
  const t = adminModerationTexts.value.deeds
  const read = useAnswer('deeds.list', { input: { limit: 1000 }, everyMs: EVERY_MS })
  return (
    <Answered read={read}>
      {(deeds) => (deeds.length === 0 ? <Empty icon="shield" title={t.none} /> : <DeedList deeds={deeds} />)}
    </Answered>
  )
}

/** Deeds, newest first. */
export function DeedList({ deeds }: { readonly deeds: readonly DoneDeed[] }) {
  const t = adminModerationTexts.value.deeds
  if (deeds.length === 0) return <p class="soft">{t.none}</p>
  return (
    <ul class="items">
      {deeds.map(({ at, who, what, object, why }) => (
        <li key={`${at} ${what} ${object}`} class="item">
          <span class="item-main">
            <span>
              <bdi class="code">{what}</bdi> <bdi class="code">{object}</bdi>
            </span>
            {why !== '' && <bdi>{why}</bdi>}
            <span class="soft small">
              {dateAndTime(Date.parse(at))} · <bdi>{who}</bdi>
            </span>
          </span>
        </li>
      ))}
    </ul>
  )
}
