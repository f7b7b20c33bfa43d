import type { Texts } from '../en/en.ts'
import { plural } from '../plural.ts'

// Words that many screens use.
export const common: Texts['common'] = {
  back: 'رجوع',
  cancel: 'إلغاء',
  close: 'إغلاق',
  save: 'حفظ',
  delete: 'حذف',
  copy: 'نسخ',
  copied: 'تم النسخ',
  done: 'تم',
  undo: 'تراجع',
  more: 'المزيد',
  search: 'بحث',
  clear: 'مسح',
  tryAgain: 'أعد المحاولة',
  unreadable: 'تعذّرت قراءة هذا',
  loading: 'جارٍ التحميل…',
  chooseFromList: 'اختر شيئًا من القائمة',
  destinations: 'الأقسام',
  chats: 'المحادثات',
  contacts: 'جهات الاتصال',
  channels: 'القنوات',
  settings: 'الإعدادات',
  calls: 'المكالمات',
  shop: 'المتجر',
  connecting: 'جارٍ الاتصال…',
  offlineHint: 'يُرسل ما تكتبه حالما يمكن الوصول إلى الخادم.',
  unread: (count) =>
    plural('ar', count, {
      zero: 'لا رسائل غير مقروءة',
      one: 'رسالة واحدة غير مقروءة',
      two: 'رسالتان غير مقروءتين',
      few: '# رسائل غير مقروءة',
      many: '# رسالة غير مقروءة',
      other: '# رسالة غير مقروءة',
    }),
  replacedTitle: 'مستخدم على جهاز آخر',
  replacedText: 'هذا الحساب متصل من مكان آخر. لا يمكن أن يتصل إلا جهاز واحد في الوقت نفسه.',
  useHere: 'استخدمه هنا',
  failedTitle: 'تعذّر بدء Sotto',
}
