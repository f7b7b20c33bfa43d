// Above the messages: the user goes on with new keys of the contact that nobody has compared.
import { ButtonLink } from '../../parts/button.tsx'
import { href } from '../../session/route.ts'
import { texts } from '../../texts/texts.ts'

export function RenewedKeys({ conversationId }: { readonly conversationId: string }) {
  const t = texts.value.common
  return (
    <div class="banner conversation-renewed" data-kind="warning" role="status">
      <span>{t.keysRenewed}</span>
      <ButtonLink href={href('contacts', conversationId, 'code')}>{t.keysCompare}</ButtonLink>
    </div>
  )
}
