// The accounts that the user has blocked. The relay keeps this list.
import { useSignal } from '@preact/signals'
import type { SharedClient } from '@sotto/client/browser'
import { useEffect } from 'preact/hooks'
import { Avatar } from '../../parts/avatar.tsx'
import { Button } from '../../parts/button.tsx'
import { LongList } from '../../parts/long-list.tsx'
import { Row } from '../../parts/row.tsx'
import { Screen } from '../../parts/screen.tsx'
import { Empty, Loading } from '../../parts/state.tsx'
import { attempt, notify } from '../../session/notices.ts'
import { href } from '../../session/route.ts'
import { useSession } from '../../session/use-session.ts'
import { contactsTexts } from '../../texts/contacts.ts'
import { explain } from '../../texts/explain.ts'
import { texts } from '../../texts/texts.ts'

type Blocks = Awaited<ReturnType<SharedClient['listBlocks']>>

export function Blocked() {
  const { client } = useSession()
  const blocks = useSignal<Blocks | undefined>(undefined)
  const error = useSignal<unknown>(undefined)
  const { common } = texts.value
  const t = contactsTexts.value

  const read = async (): Promise<void> => {
    error.value = undefined
    try {
      blocks.value = await client.listBlocks()
    } catch (thrown) {
      error.value = thrown
    }
  }
  useEffect(() => void read(), [])

  const unblock = async ({ alias_id, nickname }: Blocks[number]): Promise<void> => {
    if (await attempt(() => client.unblock(alias_id))) {
      notify(t.unblocked(nickname))
      blocks.value = blocks.value?.filter((each) => each.alias_id !== alias_id)
    }
  }
  return (
    <Screen title={t.blocked} back={href('contacts')}>
      {error.value !== undefined ? (
        <Empty
          icon="warning"
          title={explain(error.value)}
          action={<Button onClick={read}>{common.tryAgain}</Button>}
        />
      ) : !blocks.value ? (
        <Loading />
      ) : blocks.value.length === 0 ? (
        <Empty icon="block" title={t.blockedEmpty}>
          {t.blockedEmptyHint}
        </Empty>
      ) : (
        <LongList items={blocks.value} keyOf={(each) => each.alias_id}>
          {(each) => (
            <Row
              lead={<Avatar name={each.nickname} seed={each.alias_id} />}
              title={<bdi>{each.nickname}</bdi>}
              detail={<span class="code">{each.alias_id}</span>}
              end={<Button onClick={() => unblock(each)}>{t.unblock}</Button>}
            />
          )}
        </LongList>
      )}
    </Screen>
  )
}
