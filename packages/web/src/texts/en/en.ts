// The English texts. Their shape is the type of every language's texts.
import { calls } from './calls.ts'
import { channels } from './channels.ts'
import { chats } from './chats.ts'
import { common } from './common.ts'
import { contacts } from './contacts.ts'
import { conversation } from './conversation.ts'
import { device } from './device.ts'
import { errors } from './errors.ts'
import { invitation } from './invitation.ts'
import { lock } from './lock.ts'
import { media } from './media.ts'
import { scan } from './scan.ts'
import { search } from './search.ts'
import { settings } from './settings.ts'
import { shop } from './shop.ts'
import { shortcuts } from './shortcuts.ts'
import { trust } from './trust.ts'
import { updates } from './updates.ts'
import { welcome } from './welcome.ts'

export const en = {
  common,
  calls,
  channels,
  chats,
  contacts,
  conversation,
  device,
  errors,
  invitation,
  lock,
  media,
  scan,
  search,
  settings,
  shop,
  shortcuts,
  trust,
  updates,
  welcome,
}

/** The texts of a language. */
export type Texts = typeof en
