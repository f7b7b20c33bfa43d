// All texts of the app by language, also those that the app loads with their screens.

import { admin as adminAr } from '../src/texts/ar/admin.ts'
import { adminDeeds as adminDeedsAr } from '../src/texts/ar/admin-deeds.ts'
import { adminModeration as adminModerationAr } from '../src/texts/ar/admin-moderation.ts'
import { ar } from '../src/texts/ar/ar.ts'
import { calls as callsAr } from '../src/texts/ar/calls.ts'
import { changes as changesAr } from '../src/texts/ar/changes.ts'
import { channels as channelsAr } from '../src/texts/ar/channels.ts'
import { contacts as contactsAr } from '../src/texts/ar/contacts.ts'
import { device as deviceAr } from '../src/texts/ar/device.ts'
import { dialogs as dialogsAr } from '../src/texts/ar/dialogs.ts'
import { invitation as invitationAr } from '../src/texts/ar/invitation.ts'
import { laterErrors as laterErrorsAr } from '../src/texts/ar/later-errors.ts'
import { lock as lockAr } from '../src/texts/ar/lock.ts'
import { media as mediaAr } from '../src/texts/ar/media.ts'
import { report as reportAr } from '../src/texts/ar/report.ts'
import { scan as scanAr } from '../src/texts/ar/scan.ts'
import { search as searchAr } from '../src/texts/ar/search.ts'
import { secrecy as secrecyAr } from '../src/texts/ar/secrecy.ts'
import { settings as settingsAr } from '../src/texts/ar/settings.ts'
import { shop as shopAr } from '../src/texts/ar/shop.ts'
import { shortcuts as shortcutsAr } from '../src/texts/ar/shortcuts.ts'
import { store as storeAr } from '../src/texts/ar/store.ts'
import { suspension as suspensionAr } from '../src/texts/ar/suspension.ts'
import { trust as trustAr } from '../src/texts/ar/trust.ts'
import { admin } from '../src/texts/en/admin.ts'
import { adminDeeds } from '../src/texts/en/admin-deeds.ts'
import { adminModeration } from '../src/texts/en/admin-moderation.ts'
import { calls } from '../src/texts/en/calls.ts'
import { changes } from '../src/texts/en/changes.ts'
import { channels } from '../src/texts/en/channels.ts'
import { contacts } from '../src/texts/en/contacts.ts'
import { device } from '../src/texts/en/device.ts'
import { dialogs } from '../src/texts/en/dialogs.ts'
import { en } from '../src/texts/en/en.ts'
import { invitation } from '../src/texts/en/invitation.ts'
import { laterErrors } from '../src/texts/en/later-errors.ts'
import { lock } from '../src/texts/en/lock.ts'
import { media } from '../src/texts/en/media.ts'
import { report } from '../src/texts/en/report.ts'
import { scan } from '../src/texts/en/scan.ts'
import { search } from '../src/texts/en/search.ts'
import { secrecy } from '../src/texts/en/secrecy.ts'
import { settings } from '../src/texts/en/settings.ts'
import { shop } from '../src/texts/en/shop.ts'
import { shortcuts } from '../src/texts/en/shortcuts.ts'
import { store } from '../src/texts/en/store.ts'
import { suspension } from '../src/texts/en/suspension.ts'
import { trust } from '../src/texts/en/trust.ts'

/** Every text in English. */
export const english = {
  ...en,
  admin,
  adminDeeds,
  adminModeration,
  calls,
  changes,
  channels,
  contacts,
  device,
  dialogs,
  invitation,
  laterErrors,
  lock,
  media,
  report,
  scan,
  search,
  secrecy,
  settings,
  shop,
  shortcuts,
  store,
  suspension,
  trust,
}

export type AllTexts = typeof english

/** Every text in Arabic. */
export const arabic: AllTexts = {
  ...ar,
  admin: adminAr,
  adminDeeds: adminDeedsAr,
  adminModeration: adminModerationAr,
  calls: callsAr,
  changes: changesAr,
  channels: channelsAr,
  contacts: contactsAr,
  device: deviceAr,
  dialogs: dialogsAr,
  invitation: invitationAr,
  laterErrors: laterErrorsAr,
  lock: lockAr,
  media: mediaAr,
  report: reportAr,
  scan: scanAr,
  search: searchAr,
  secrecy: secrecyAr,
  settings: settingsAr,
  shop: shopAr,
  shortcuts: shortcutsAr,
  store: storeAr,
  suspension: suspensionAr,
  trust: trustAr,
}
