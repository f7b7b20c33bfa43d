import type { Texts } from '../en/en.ts'
import { plural } from '../plural.ts'

// Contacts: friends, requests, and adding people.
export const contacts: Texts['contacts'] = {
  title: 'جهات الاتصال',
  add: 'إضافة جهة اتصال',
  empty: 'لا جهات اتصال بعد',
  emptyHint: 'يجد الناس بعضهم بالاسم المستعار. أعط اسمك لشخص، أو أدخل اسمه.',
  myAlias: 'اسمي المستعار',
  friends: (count) =>
    plural('ar', count, {
      zero: 'لا جهات اتصال',
      one: 'جهة اتصال واحدة',
      two: 'جهتا اتصال',
      few: '# جهات اتصال',
      other: '# جهة اتصال',
    }),
  received: 'طلبات إليك',
  sent: 'طلبات منك',
  accept: 'قبول',
  reject: 'رفض',
  withdraw: 'سحب',
  waiting: 'في انتظار الرد',
  wantsToTalk: 'يريد أن يكون من جهات اتصالك',
  accepted: (name) => `${name} من جهات اتصالك الآن.`,
  aliasLabel: 'الاسم المستعار',
  aliasHint: 'الاسم الذي أعطاك إياه شخص، مثل anna_5.',
  find: 'بحث',
  nobody: 'لا أحد يحمل هذا الاسم المستعار.',
  isMe: 'هذا اسمك المستعار أنت.',
  request: 'إرسال طلب',
  requested: (name) => `وصل طلبك إلى ${name}. يمكنك الكتابة بعد قبوله.`,
  already: 'هذا من جهات اتصالك من قبل.',
  open: 'فتح المحادثة',
  message: 'رسالة',
  unknown: 'لا توجد جهة اتصال كهذه',
  pending: 'طلبك في انتظار الرد.',
}
