#include <stdbool.h>
int add(int a, int b);
bool even(unsigned long x);
double mean(const double* values, int n);
void sort(int a[], int n);
void divide(int a, int b, int* quotient, int* rest);
char* upper(const char* text);
void shorten(char* text);
int* first(int n, int* returnSize);
int total_length(char** words, int n);
// tests
#include <assert.h>
#include <string.h>
int main(void) {
    assert(add(-1, 3) == 2);
    assert(even(18446744073709551614ul) && !even(3));
    double values[] = {1, 2, 6};
    assert(mean(values, 3) == 3 && mean(0, 0) == 0);
    int a[] = {3, 1, 2};
    sort(a, 3);
    assert(a[0] == 1 && a[1] == 2 && a[2] == 3);
    int quotient, rest;
    divide(17, 5, &quotient, &rest);
    assert(quotient == 3 && rest == 2);
    assert(strcmp(upper("abc"), "ABC") == 0);
    char text[] = "long";
    shorten(text);
    assert(strcmp(text, "l") == 0);
    int size = 0;
    int* out = first(4, &size);
    assert(size == 4 && out[0] == 1 && out[3] == 4);
    char* words[] = {"ab", "c"};
    assert(total_length(words, 2) == 3);
}
