// The deed that removes a post from a channel.
import { adminModerationTexts } from '../texts/admin-moderation.ts'
import type { Deed } from './deed-dialog.tsx'
import { ask } from './relay-commands.ts'

export function postRemoval(channel_id: string, post_id: string): Deed {
  const t = adminModerationTexts.value.channels
  return {
    title: t.removeTitle,
    text: t.removeText,
    action: t.removeDo,
    isDangerous: true,
    run: (why) => ask('channels.remove-post', { channel_id, post_id, why }),
  }
}
