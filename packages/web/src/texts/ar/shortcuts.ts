import type { shortcuts as en } from '../en/shortcuts.ts'

// The list of keyboard shortcuts.
export const shortcuts: typeof en = {
  title: 'اختصارات لوحة المفاتيح',
  search: 'بحث',
  next: 'المحادثة التالية',
  previous: 'المحادثة السابقة',
  send: 'إرسال الرسالة',
  line: 'سطر جديد',
  edit: 'في الحقل الفارغ: تعديل رسالتك الأخيرة',
  answer: 'في الحقل الفارغ: الرد على آخر رسالة أو على ما قبلها',
  emoji: 'البحث عن رمز تعبيري باسمه',
  messages: 'من رسالة إلى أخرى',
  edges: 'أول رسالة وآخر رسالة',
  menu: 'عند رسالة: ما يمكن فعله بها',
  close: 'إغلاق',
  list: 'عرض هذه القائمة',
}
