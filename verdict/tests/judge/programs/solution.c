#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int add(int a, int b) { return a + b; }
bool even(unsigned long x) { return x % 2 == 0; }
double mean(const double* values, int n) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += values[i];
    return n == 0 ? 0 : sum / n;
}
void sort(int a[], int n) {
    for (int i = 0; i < n; ++i)
        for (int j = i + 1; j < n; ++j)
            if (a[j] < a[i]) {
                int t = a[i];
                a[i] = a[j];
                a[j] = t;
            }
}
void divide(int a, int b, int* quotient, int* rest) {
    *quotient = a / b;
    *rest = a % b;
}
char* upper(const char* text) {
    char* out = malloc(strlen(text) + 1);
    for (size_t i = 0; i <= strlen(text); ++i) out[i] = toupper(text[i]);
    return out;
}
void shorten(char* text) { text[1] = 0; }
int* first(int n, int* returnSize) {
    int* out = malloc(sizeof(int) * n);
    for (int i = 0; i < n; ++i) out[i] = i + 1;
    *returnSize = n;
    return out;
}
int total_length(char** words, int n) {
    int all = 0;
    for (int i = 0; i < n; ++i) all += strlen(words[i]);
    return all;
}
int main(void) { return 3; }
