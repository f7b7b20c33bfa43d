import type { Texts } from '../en/en.ts'

// One conversation.
export const conversation: Texts['conversation'] = {
  message: 'رسالة',
  write: 'اكتب رسالة',
  send: 'إرسال',
  retracted: 'سُحبت هذه الرسالة',
  undecryptable: 'تعذّر فك تشفير هذه الرسالة',
  empty: 'لا رسائل بعد',
  emptyHint: 'تُشفّر الرسائل على جهازك. قارن رمز الأمان لتتأكد ممن يقرؤها.',
  unknown: 'لا توجد محادثة كهذه',
  notFriends: 'لم تعودا صديقين، فلا يمكن إرسال شيء.',
  list: (name) => `رسائل مع ${name}`,
  marks: {
    sending: 'قيد الإرسال',
    sent: 'أُرسلت',
    delivered: 'وصلت',
    read: 'قُرئت',
    failed: 'لم تُرسل',
  },
  from: (name) => `${name}:`,
  fromMe: 'أنت:',
}
