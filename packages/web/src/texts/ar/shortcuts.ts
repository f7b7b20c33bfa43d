import type { Texts } from '../en/en.ts'

// The list of keyboard shortcuts.
export const shortcuts: Texts['shortcuts'] = {
  title: 'اختصارات لوحة المفاتيح',
  search: 'بحث',
  next: 'المحادثة التالية',
  previous: 'المحادثة السابقة',
  send: 'إرسال الرسالة',
  line: 'سطر جديد',
  emoji: 'البحث عن رمز تعبيري باسمه',
  messages: 'من رسالة إلى أخرى',
  edges: 'أول رسالة وآخر رسالة',
  menu: 'عند رسالة: ما يمكن فعله بها',
  close: 'إغلاق',
  list: 'عرض هذه القائمة',
}
