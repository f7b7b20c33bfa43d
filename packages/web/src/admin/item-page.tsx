// One thing of a list: what the relay knows about it, what was done to it, and the dialog of a deed that
// begins.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { ButtonLink } from '../parts/button.tsx'
import { href, route } from '../session/route.ts'
import { texts } from '../texts/texts.ts'
import { Answered } from './answered.tsx'
import type { DoneDeed } from './answers.ts'
import { type Deed, DeedDialog } from './deed-dialog.tsx'
import { DeedList } from './deeds-page.tsx'
import type { Read } from './use-answer.ts'

interface ItemPageProps<T> {
  /** The page of the list, and the thing's place in its address. */
  readonly list: string
  readonly id: string
  readonly read: Read<T>
  readonly deeds?: { readonly title: string; readonly read: Read<readonly DoneDeed[]> }
  /** Shows the thing. `begin` opens the dialog of a deed. */
  readonly children: (value: T, begin: (deed: Deed) => void) => ComponentChildren
}

export function ItemPage<T>({ list, id, read, deeds, children }: ItemPageProps<T>) {
  const [deed, begin] = useState<Deed | undefined>()
  return (
    <>
      <div class="admin-back">
        <ButtonLink href={href(list)} icon="back" kind="quiet">
          {texts.value.common.back}
        </ButtonLink>
      </div>
      <Answered read={read}>{(value) => children(value, begin)}</Answered>
      {deeds && (
        <section class="admin-section">
          <h2>{deeds.title}</h2>
          <Answered read={deeds.read}>{(done) => <DeedList deeds={done} />}</Answered>
        </section>
      )}
      {deed && (
        <DeedDialog
          deed={deed}
          onClose={() => begin(undefined)}
          onDone={() => {
            // Who has deleted the thing has left its page.
            if (route.peek().path[1] !== id) return
            void read.reload()
            void deeds?.read.reload()
          }}
        />
      )}
    </>
  )
}
