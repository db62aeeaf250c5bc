/* Wants of CANN what torch_npu wants, in little. */
extern int aclInit(const char *), aclrtMalloc(void **, unsigned long, int);
extern int _ZN2ge8OperatorC2EPKcS2_(void *), malloc_of_another_library(void);
extern int aclOwn(void);

const char *const looked_up[] = {"aclnnAddGetWorkspaceSize", "aclnnAdd",  "aclnnManyGetWorkspaceSize",
                                 "aclnnMany",                "aclrtFree", "at aclnnSubGetWorkspaceSize",
                                 "aclnnSub",                 "aclnnDiv failed", "HcclAllReduce"};

int aclOwn(void) { return 0; }

int everything(void) {
  void *memory;
  return aclInit(0) + aclrtMalloc(&memory, 1, 0) + _ZN2ge8OperatorC2EPKcS2_(&memory) + malloc_of_another_library();
}
