import type { Texts } from '../en/en.ts'
import { plural } from '../plural.ts'

// The list of conversations.
export const chats: Texts['chats'] = {
  title: 'المحادثات',
  empty: 'لا محادثات بعد',
  emptyHint: 'أضف شخصًا باسمه المستعار، أو دعه يمسح رمزك.',
  addContact: 'إضافة جهة اتصال',
  choose: 'اختر محادثة',
  chooseHint: 'أو أضف شخصًا لتحدثه.',
  draft: 'مسودة:',
  you: 'أنت:',
  typing: 'يكتب…',
  image: 'صورة',
  file: 'ملف',
  voice: 'رسالة صوتية',
  retracted: 'سُحبت الرسالة',
  undecryptable: 'تعذّر فك التشفير',
  nothing: 'ابدأ بالسلام',
  pinned: 'مثبتة',
  muted: 'مكتومة',
  archived: 'مؤرشفة',
  archivedCount: (count) =>
    plural('ar', count, {
      zero: 'لا محادثات مؤرشفة',
      one: 'محادثة واحدة مؤرشفة',
      two: 'محادثتان مؤرشفتان',
      few: '# محادثات مؤرشفة',
      other: '# محادثة مؤرشفة',
    }),
  requests: (count) =>
    plural('ar', count, {
      zero: 'لا طلبات صداقة',
      one: 'طلب صداقة واحد',
      two: 'طلبا صداقة',
      few: '# طلبات صداقة',
      other: '# طلب صداقة',
    }),
  position: (number, total) => `${number} من ${total}`,
}
