import type { store as en } from '../en/store.ts'

// The store of this device has failed.
export const store: typeof en = {
  failedTitle: 'لم يعد هذا الجهاز يحفظ شيئًا',
  failedText:
    'الأرجح أنه ممتلئ. ما تكتبه يبقى في خانته ولا يُرسل. احذف ما لا تحتاج إليه من هذا الجهاز، ثم تابع.',
  storage: 'التخزين',
  goOn: 'متابعة',
  reload: 'إعادة تحميل الصفحة',
}
