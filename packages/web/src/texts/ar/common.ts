import type { common as en } from '../en/common.ts'
import { plural } from '../plural.ts'

// Words that many screens use.
export const common: typeof en = {
  back: 'رجوع',
  cancel: 'إلغاء',
  close: 'إغلاق',
  save: 'حفظ',
  delete: 'حذف',
  copy: 'نسخ',
  copied: 'تم النسخ',
  done: 'تم',
  report: 'إبلاغ',
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
  missed: (count) =>
    plural('ar', count, {
      zero: 'لا مكالمات فائتة',
      one: 'مكالمة فائتة واحدة',
      two: 'مكالمتان فائتتان',
      few: '# مكالمات فائتة',
      many: '# مكالمة فائتة',
      other: '# مكالمة فائتة',
    }),
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
  keysChanged: (name, others) =>
    others === 0
      ? `تغيّرت مفاتيح ${name}`
      : `تغيّرت مفاتيح ${name} ${plural('ar', others, { one: 'وشخص آخر', two: 'وشخصين آخرين', few: 'و# آخرين', other: 'و# آخرين' })}`,
  keysChangedShort: 'لا يُرسل شيء ولا يُقرأ حتى تقرر.',
  keysRenewed: 'تغيرت المفاتيح، ولم يقارن أحد المفاتيح الجديدة.',
  keysCompare: 'قارن',
  keysChangedLook: 'ما العمل',
  failedTitle: 'تعذّر بدء Sotto',
}
